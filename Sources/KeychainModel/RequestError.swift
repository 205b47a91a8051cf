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
