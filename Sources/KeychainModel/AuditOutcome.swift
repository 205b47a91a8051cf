// SPDX-License-Identifier: Apache-2.0

/// The outcome of a request in a record: `allowed`, the name of an error, or `several` where the
/// record stands for requests with different outcomes.
package struct AuditOutcome: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package static let allowed = Self("allowed")
    package static let several = Self("several")

    package init(_ text: String) { description = text }

    package init(_ error: RequestError?) { self = error.map { Self("\($0)") } ?? .allowed }

    private static let errors = Dictionary(
        RequestError.allCases.map { ("\($0)", $0) }, uniquingKeysWith: { first, _ in first })

    /// Whether the request was refused or failed. A missing item or a locked keychain is no
    /// refusal, as there was nothing to allow. A name that only a newer service knows counts as a
    /// refusal, and so does `several`.
    package var isRefusal: Bool {
        if self == .allowed { return false }
        return switch Self.errors[description] {
        case .state(let state)?: !state.leavesNothingToAllow
        case .invalid, .refused, .failed, nil: true
        }
    }
}

extension KeychainState {
    fileprivate var leavesNothingToAllow: Bool {
        switch self {
        case .notFound, .duplicate, .locked, .passcodeNotSet, .noSession, .noSuchKeychain,
            .duplicateKeychain, .noDefaultKeychain, .noSuchProtector, .lastProtector:
            true
        case .newerVersion, .readOnly, .protectorNotAvailable, .measurementsDiffer,
            .protectorChanged, .notOpenedHere, .olderService, .olderProgram, .noSuchPeer:
            false
        }
    }
}

extension AuditOutcome: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        try value.encode(description)
    }
}

/// The fields of an audit record: the keys of its JSON object, for the service that writes it and
/// the command that reads it.
package enum AuditField: String, CodingKey, CaseIterable, Sendable {
    case time, operation, user, process, program, session
    /// The service that relayed the program's request.
    case via
    /// Methods of proof.
    case evidence
    case outcome
    /// Ids of the rules that decided.
    case because
    /// Fingerprints of the items concerned.
    case items
    case count, milliseconds
    /// The part that an item's list of programs played.
    case trust
    case request, decision, requires, would
    /// Facts of the request that were too long.
    case cut
    /// The revision of the policies that decided, or that were read.
    case policy
    /// The policies that were read.
    case loaded
    /// The number of the user's records before this one that could not be written.
    case lost
}

/// The part of a record that describes loaded policies.
package struct PolicyLoad: Codable, Hashable, Sendable {
    package struct File: Codable, Hashable, Sendable {
        package let path: String
        /// The beginning of a hash over its bytes, in hexadecimal digits.
        package let hash: String

        package init(path: String, hash: String) {
            self.path = path
            self.hash = hash
        }
    }

    /// The most files listed; `unlisted` counts the others.
    package static let mostFiles = 256

    package let rules: Int
    /// In the order of the folders; empty where unknown.
    package let files: [File]
    package let unlisted: Int
    /// Restrictions of an earlier folder that the set no longer has, in words.
    package let weakened: [String]

    package init(rules: Int, files: [File], weakened: [String]) {
        self.rules = rules
        self.files = Array(files.prefix(Self.mostFiles))
        unlisted = files.count - self.files.count
        self.weakened = Array(weakened.prefix(Self.mostFiles))
    }
}
