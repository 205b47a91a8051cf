// SPDX-License-Identifier: Apache-2.0

/// Why a request was not answered with what it asked for, by its kind: a program mends a request, asks
/// a user about a refusal, tells the user a state, and an administrator a failure. `Security` makes
/// status codes of it, the command line advice, the audit an outcome.
public enum RequestError: Error, Hashable, Sendable {
    /// What was asked is wrong, and is so for every client at any time.
    case invalid(InvalidRequest)
    /// This client, or the user that was asked, may not.
    case refused(Refusal)
    /// The keychain, the item or the machine is not in the state that it takes.
    case state(KeychainState)
    /// Something is broken or full, or does not answer.
    case failed(ServiceFailure)
}

/// Its number in messages and exit codes; no two kinds have one in common.
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

/// The name for programs: in the audit, and in what `keychainctl --json` says.
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

/// What is wrong with what was asked. The numbers are those of `RequestError`.
public enum InvalidRequest: UInt32, Sendable, CaseIterable {
    case badRequest = 1
    case noSuchAttribute = 2
    case noSuchClass = 3
    case dataTooLarge = 4
    case notImplemented = 5
    /// The secrets of all passwords were asked for, and one of them needs a proof: references are
    /// to be asked for, then the secrets of those that are wanted.
    case needsProofOfEach = 12
    case badKeychainName = 42
}

/// Why a client may not have what it asked for. The numbers are those of `RequestError`.
public enum Refusal: UInt32, Sendable, CaseIterable {
    /// The caller has no access group, or not the one it named.
    case notEntitled = 20
    case authenticationFailed = 21
    case cancelled = 22
    /// The question could not be asked: no user there, or not allowed to ask.
    case interactionNotAllowed = 23
    case tooManyRequests = 25
    case wrongPassword = 27
    /// A rule of the administrator's policy does not allow it.
    case forbidden = 29
    /// Of an item that was made with another application password.
    case wrongApplicationPassword = 35
    case belongsToAnother = 48
    case wrongRecoveryKey = 52
    /// The security key wants a PIN, or got another.
    case wrongPIN = 57
}

/// In which state the keychain, the item or the machine is, where that is why a request has no answer.
/// The numbers are those of `RequestError`.
public enum KeychainState: UInt32, Sendable, CaseIterable {
    // The item.
    case notFound = 10
    case duplicate = 11
    // The keychain.
    /// A key of the class is not there: the keychain is locked.
    case locked = 24
    /// An operation that needs a password protector, on a keychain without one.
    case passcodeNotSet = 26
    /// The daemon knows no login to which an unlock could belong.
    case noSession = 28
    case noSuchKeychain = 40
    case duplicateKeychain = 41
    case newerVersion = 44
    case readOnly = 45
    /// The user has said that new items go nowhere.
    case noDefaultKeychain = 49
    // What opens it.
    case noSuchProtector = 50
    /// Without it nothing would open the keychain any more.
    case lastProtector = 51
    /// The machine has no TPM, or the service was given no such credential.
    case protectorNotAvailable = 53
    /// The machine was started in another way than the TPM demands.
    case measurementsDiffer = 54
    /// The TPM was cleared or is another one; the credential is another one.
    case protectorChanged = 55
    /// Nothing that this machine has opens it: a copy from another one.
    case notOpenedHere = 58
    // The service.
    /// The service that runs is older than the program that asks it, or the program is older than the
    /// service: what one of them says means nothing to the other.
    case olderService = 64
    case olderProgram = 65
    /// The service knows no peer of that number of this deputy's: it is to be introduced anew.
    case noSuchPeer = 66
}

/// What is broken or full, or does not answer. The numbers are those of `RequestError`.
public enum ServiceFailure: UInt32, Sendable, CaseIterable {
    /// The policies can't be used as they are; those in force stay.
    case damagedPolicy = 30
    /// The file is not whole, or not ours.
    case damaged = 43
    case diskFull = 46
    case inputOutput = 47
    /// The TPM or security key did not answer in time, or not as it should.
    case protectorFailed = 56
    /// The keychain's file is not there, and something of an earlier one is.
    case keychainGone = 59
    case notAvailable = 60
    case outOfMemory = 61
    case internalError = 62
    /// A copy whose password takes more work than this software ever asks for: it was altered.
    case derivationTooCostly = 63
    /// Nothing asks PAM: `keychain-auth-starter` is gone, or does not answer.
    case noAuthentication = 67
}
