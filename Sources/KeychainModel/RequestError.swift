// SPDX-License-Identifier: Apache-2.0

/// Why a request failed, by kind: a program corrects an invalid request, asks a user about a
/// refusal, tells the user a state, and an administrator a failure. `Security` turns it into status
/// codes, the command line into advice, the audit into an outcome.
public enum RequestError: Error, Hashable, Sendable {
    /// The request is wrong for every client at any time.
    case invalid(InvalidRequest)
    /// The client, or the user who was asked, does not have the right.
    case refused(Refusal)
    /// The keychain, the item or the machine is not in the state that the request needs.
    case state(KeychainState)
    /// A part is broken or full, or does not answer.
    case failed(ServiceFailure)
}

/// The number in messages and exit codes; no two kinds share one.
extension RequestError: RawRepresentable {
    public init?(rawValue: UInt32) {
        if let what = InvalidRequest(rawValue: rawValue) {
            self = .invalid(what)
        } else if let why = Refusal(rawValue: rawValue) {
            self = .refused(why)
        } else if let state = KeychainState(rawValue: rawValue) {
            self = .state(state)
        } else if let failure = ServiceFailure(rawValue: rawValue) {
            self = .failed(failure)
        } else {
            return nil
        }
    }

    public var rawValue: UInt32 {
        switch self {
        case .invalid(let what): what.rawValue
        case .refused(let why): why.rawValue
        case .state(let state): state.rawValue
        case .failed(let failure): failure.rawValue
        }
    }
}

extension RequestError: CaseIterable {
    public static var allCases: [Self] {
        InvalidRequest.allCases.map(Self.invalid) + Refusal.allCases.map(Self.refused)
            + KeychainState.allCases.map(Self.state) + ServiceFailure.allCases.map(Self.failed)
    }
}

/// The name for programs: in the audit, and in the output of `keychainctl --json`.
extension RequestError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .invalid(let what): "\(what)"
        case .refused(let why): "\(why)"
        case .state(let state): "\(state)"
        case .failed(let failure): "\(failure)"
        }
    }
}

/// The mistake in a request. The numbers are those of `RequestError`.
public enum InvalidRequest: UInt32, Sendable, CaseIterable {
    case badRequest = 1
    case noSuchAttribute = 2
    case noSuchClass = 3
    case dataTooLarge = 4
    case notImplemented = 5
    /// The secrets of all passwords were requested, and one of them needs a proof. The program must
    /// request references first, then the secrets that it wants.
    case needsProofOfEach = 12
    case badKeychainName = 42
}

/// Why a client may not have an answer. The numbers are those of `RequestError`.
public enum Refusal: UInt32, Sendable, CaseIterable {
    /// The caller has no access group, or not the one that it named.
    case notEntitled = 20
    case authenticationFailed = 21
    case cancelled = 22
    /// The question could not be asked: no user is there, or the request forbids asking.
    case interactionNotAllowed = 23
    case tooManyRequests = 25
    case wrongPassword = 27
    /// A rule of the administrator's policy does not allow it.
    case forbidden = 29
    /// The item was made with another application password.
    case wrongApplicationPassword = 35
    case belongsToAnother = 48
    case wrongRecoveryKey = 52
    /// The security key needs a PIN, or got a wrong one.
    case wrongPIN = 57
}

/// The state of the keychain, the item or the machine, where that is why a request has no answer.
/// The numbers are those of `RequestError`.
public enum KeychainState: UInt32, Sendable, CaseIterable {
    // The item.
    case notFound = 10
    case duplicate = 11
    // The keychain.
    /// The class key is missing: the keychain is locked.
    case locked = 24
    /// The operation needs a password protector, and the keychain has none.
    case passcodeNotSet = 26
    /// The daemon knows no login that an unlock could belong to.
    case noSession = 28
    case noSuchKeychain = 40
    case duplicateKeychain = 41
    case newerVersion = 44
    case readOnly = 45
    /// The user has no default keychain for new items.
    case noDefaultKeychain = 49
    // Protectors.
    case noSuchProtector = 50
    /// Without this protector nothing would open the keychain.
    case lastProtector = 51
    /// The machine has no TPM, or the service was given no such credential.
    case protectorNotAvailable = 53
    /// The machine was started in another way than the TPM requires.
    case measurementsDiffer = 54
    /// The TPM was cleared or replaced, or the credential was.
    case protectorChanged = 55
    /// No means of this machine opens the keychain, which is a copy from another one.
    case notOpenedHere = 58
    // The service.
    /// The running service is older than the program, or the program older than the service, so
    /// that they do not understand each other.
    case olderService = 64
    case olderProgram = 65
    /// The service knows no peer with that number for this deputy; the deputy must introduce it
    /// again.
    case noSuchPeer = 66
}

/// A part that is broken or full, or does not answer. The numbers are those of `RequestError`.
public enum ServiceFailure: UInt32, Sendable, CaseIterable {
    /// The policies can't be used as they are; the previous ones stay in force.
    case damagedPolicy = 30
    /// The file is damaged, or not the project's.
    case damaged = 43
    case diskFull = 46
    case inputOutput = 47
    /// The TPM or security key did not answer in time, or answered wrongly.
    case protectorFailed = 56
    /// The keychain's file is missing, and remains of an earlier one exist.
    case keychainGone = 59
    case notAvailable = 60
    case outOfMemory = 61
    case internalError = 62
    /// The copy's password costs more work than this software ever uses: the copy was altered.
    case derivationTooCostly = 63
    /// No process can ask PAM or a device: `keychain-starter` is gone, or does not answer.
    case noAuthentication = 67
}
