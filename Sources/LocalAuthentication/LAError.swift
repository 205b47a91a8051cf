// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// The domain of errors from this module.
public let LAErrorDomain = "com.apple.LocalAuthentication"

/// Why an authentication did not succeed.
///
/// It is a value, as Swift has it on Apple's systems, and can also be caught as an `NSError` of
/// `LAErrorDomain`; such an object converts back to an `LAError`.
public struct LAError: CustomNSError, Hashable, @unchecked Sendable {
    public enum Code: Int, Sendable {
        case authenticationFailed = -1
        case userCancel = -2
        case userFallback = -3
        case systemCancel = -4
        case passcodeNotSet = -5
        case biometryNotAvailable = -6
        case biometryNotEnrolled = -7
        case biometryLockout = -8
        case appCancel = -9
        case invalidContext = -10
        case companionNotAvailable = -11
        case biometryNotPaired = -12
        case biometryDisconnected = -13
        case invalidDimensions = -14
        case notInteractive = -1004

        public static let watchNotAvailable = companionNotAvailable
        public static let touchIDNotAvailable = biometryNotAvailable
        public static let touchIDNotEnrolled = biometryNotEnrolled
        public static let touchIDLockout = biometryLockout
    }

    public let code: Code
    /// Never changes, and so may be read by any thread.
    private let given: [String: Any]

    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        self.code = code
        given = userInfo
    }

    public static func == (a: LAError, b: LAError) -> Bool {
        a.code == b.code && (a.userInfo as NSDictionary).isEqual(b.userInfo as NSDictionary)
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(code) }

    /// Converts an error object of this domain. Any other object, and an unknown code, becomes a
    /// failed authentication, and never a milder error.
    public init(_nsError error: NSError) {
        self = LAError(known: error) ?? LAError(.authenticationFailed)
    }

    /// Converts an error object of this domain; nil for any other.
    init?(known error: NSError) {
        guard error.domain == LAErrorDomain, let code = Code(rawValue: error.code) else {
            return nil
        }
        self.init(code, userInfo: error.userInfo)
    }

    public static var errorDomain: String { LAErrorDomain }
    public var errorCode: Int { code.rawValue }
    public var errorUserInfo: [String: Any] {
        given.merging([NSLocalizedDescriptionKey: localizedDescription]) { own, _ in own }
    }
    public var userInfo: [String: Any] { errorUserInfo }

    public var localizedDescription: String {
        given[NSLocalizedDescriptionKey] as? String ?? code.text
    }

    public static let authenticationFailed = Code.authenticationFailed
    public static let userCancel = Code.userCancel
    public static let userFallback = Code.userFallback
    public static let systemCancel = Code.systemCancel
    public static let passcodeNotSet = Code.passcodeNotSet
    public static let biometryNotAvailable = Code.biometryNotAvailable
    public static let biometryNotEnrolled = Code.biometryNotEnrolled
    public static let biometryLockout = Code.biometryLockout
    public static let appCancel = Code.appCancel
    public static let invalidContext = Code.invalidContext
    public static let companionNotAvailable = Code.companionNotAvailable
    public static let watchNotAvailable = Code.companionNotAvailable
    public static let biometryNotPaired = Code.biometryNotPaired
    public static let biometryDisconnected = Code.biometryDisconnected
    public static let invalidDimensions = Code.invalidDimensions
    public static let notInteractive = Code.notInteractive
    public static let touchIDNotAvailable = Code.biometryNotAvailable
    public static let touchIDNotEnrolled = Code.biometryNotEnrolled
    public static let touchIDLockout = Code.biometryLockout
}

extension LAError.Code {
    fileprivate var text: String {
        switch self {
        case .authenticationFailed: "Authentication failed."
        case .userCancel: "Authentication was canceled by the user."
        case .userFallback: "The user chose another way to authenticate."
        case .systemCancel: "Authentication was canceled by the system."
        case .passcodeNotSet: "No password is set for the login keychain."
        case .biometryNotAvailable: "Biometry is not available on this device."
        case .biometryNotEnrolled: "No fingerprints are enrolled."
        case .biometryLockout: "Biometry is locked out after too many failed attempts."
        case .appCancel: "Authentication was canceled by the application."
        case .invalidContext: "The context has been invalidated."
        case .companionNotAvailable: "No companion device is available."
        case .biometryNotPaired, .biometryDisconnected: "The biometric sensor is not connected."
        case .invalidDimensions: "The dimensions are not valid."
        case .notInteractive: "User interaction is required, but is not possible."
        }
    }
}

extension LAError: LocalizedError {
    public var errorDescription: String? { localizedDescription }
}
