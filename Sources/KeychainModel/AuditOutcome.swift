// SPDX-License-Identifier: Apache-2.0

/// How a request ended, as a record has it: `allowed`, the name of an error, or `several` where the
/// record stands for requests that ended differently.
package struct AuditOutcome: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package static let allowed = Self("allowed")
    package static let several = Self("several")

    package init(_ text: String) { description = text }

    package init(_ error: RequestError?) { self = error.map { Self("\($0)") } ?? .allowed }

    private static let errors = Dictionary(
        RequestError.allCases.map { ("\($0)", $0) }, uniquingKeysWith: { first, _ in first })

    /// Whether it was refused or failed, and not that there was nothing to allow: no such item, a
    /// keychain that is locked. A name that only a newer service knows counts as refused, and so do
    /// several.
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

/// What a record of the audit tells: the keys of its JSON object, for the service that writes it and
/// the command that reads it.
package enum AuditField: String, CodingKey, CaseIterable, Sendable {
    case time, operation, user, process, program, session
    /// The service that brought the program's request.
    case via
    /// Methods of proof.
    case evidence
    case outcome
    /// Ids of the rules that made it so.
    case because
    /// Fingerprints of the items that were concerned.
    case items
    case count, milliseconds
    /// What an item's list of programs had to do with it.
    case trust
    case request, decision, requires, would
    /// Facts of the request that were too long to be told.
    case cut
    /// The revision of the policies that decided, or that were read.
    case policy
    /// Of what policies were read.
    case loaded
}

/// What a record of policies that were read tells of them.
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

    /// More are not told; `unlisted` says how many.
    package static let mostFiles = 256

    package let rules: Int
    /// In the order of the folders; empty where they are not known.
    package let files: [File]
    package let unlisted: Int
    /// What the set no longer restricts that an earlier folder did, in words.
    package let weakened: [String]

    package init(rules: Int, files: [File], weakened: [String]) {
        self.rules = rules
        self.files = Array(files.prefix(Self.mostFiles))
        unlisted = files.count - self.files.count
        self.weakened = Array(weakened.prefix(Self.mostFiles))
    }
}
