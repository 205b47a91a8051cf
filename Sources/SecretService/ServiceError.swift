// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import MessageBus

/// What a call on the bus is refused with: the one place where D-Bus names are made of errors.
struct ServiceError: Error, Hashable, Sendable {
    let name: String
    let text: String

    private static func secret(_ name: String, _ text: String) -> Self {
        Self(name: "org.freedesktop.Secret.Error." + name, text: text)
    }

    private static func bus(_ name: String, _ text: String) -> Self {
        Self(name: "org.freedesktop.DBus.Error." + name, text: text)
    }

    static let isLocked = secret("IsLocked", "It is locked")
    static let noSession = secret("NoSession", "There is no such session")
    static let noSuchObject = secret("NoSuchObject", "There is no such object")
    static let accessDenied = bus("AccessDenied", "Access is denied")
    static let nameTaken = bus("Failed", "There is one of that name")
    static let failed = bus("Failed", "The keychain does not answer")
    static let limitsExceeded = bus("LimitsExceeded", "That is more than is taken")
    /// Not `limitsExceeded`: where no user is there, another word says so.
    static let tooManyQuestions = bus("LimitsExceeded", "The user was asked too often")
    static let notSupported = bus("NotSupported", "That is not supported")
    static let readOnly = bus("PropertyReadOnly", "The property can't be set")
    static let unknownInterface = bus("UnknownMethod", "There is no such interface")
    static let unknownMethod = bus("UnknownMethod", "There is no such method")
    static let unknownObject = bus("UnknownMethod", "There is no such object")
    static let unknownProperty = bus("UnknownProperty", "There is no such property")
    static let gone = bus("UnknownMethod", "The object is not there any more")

    static func invalidArguments(_ text: String) -> Self { bus("InvalidArgs", text) }
}

extension ServiceError {
    /// Of what a message can't be read as.
    init(_ error: BusReadError) {
        self =
            switch error {
            case .mismatch: .invalidArguments("The arguments are of other types")
            case .tooLong: .limitsExceeded
            }
    }

    /// Of what the keychain said.
    init(_ error: RequestError) {
        self =
            switch error {
            case .invalid(.dataTooLarge): .limitsExceeded
            case .invalid(.notImplemented): .notSupported
            case .invalid: .invalidArguments("The keychain does not take that")
            case .refused(.interactionNotAllowed), .refused(.cancelled),
                .refused(.authenticationFailed), .refused(.wrongPassword),
                .refused(.wrongRecoveryKey):
                .isLocked
            case .refused(.tooManyRequests): .tooManyQuestions
            case .failed(.outOfMemory): .limitsExceeded
            case .refused: .accessDenied
            case .state(.locked), .state(.noSession), .state(.passcodeNotSet): .isLocked
            case .state(.notFound), .state(.noSuchKeychain), .state(.noDefaultKeychain):
                .noSuchObject
            case .state(.readOnly): .accessDenied
            case .state(.duplicateKeychain): .nameTaken
            case .state, .failed: .failed
            }
    }
}
