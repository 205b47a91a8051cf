// SPDX-License-Identifier: Apache-2.0
package import FoundationEssentials
package import KeychainModel
internal import KeychainPolicyModel

/// One decision, or several alike, as the file and the journal tell of it.
package struct AuditRecord: Encodable, Sendable {
    package let time: Date
    package let operation: String
    package let user: UInt32
    package let process: Int32?
    package let program: String
    package let session: Int32?
    package let via: String?
    /// Methods of proof.
    package let evidence: [String]
    package let outcome: AuditOutcome
    /// The ids of the rules that decided.
    package let because: [String]
    /// Fingerprints of the items concerned.
    package let items: [String]
    package let count: Int
    package let milliseconds: Double?
    /// The part that an item's list of programs played.
    package let trust: String?
    package let request: String?
    let decision: String?
    package let requires: String?
    package let would: String?
    /// Facts of the request that were too long: their names, and their first characters.
    package let cut: [String]
    /// The revision of the policies that decided, or that were read.
    package let policy: String?
    package let loaded: PolicyLoad?
    /// The number of the user's records before this one that could not be written.
    package var lost: Int?

    private typealias CodingKeys = AuditField

    /// The most bytes of any text in a record. Names of programs, access groups and items may be
    /// long at a user's will, and would otherwise fill the file.
    package static let longestText = 256
    static let longestRequest = 8 * 1024

    /// Shortens a longer text, with “…” at its end.
    package static func cut(_ text: String) -> String { PolicyText(text).cut(to: longestText) }

    /// Whether the record tells of a request that a policy refused, with all that the refusal rests
    /// on.
    var tellsOfRefusal: Bool {
        request != nil
            && [PolicyOutcome.deny, .interactionNotAllowed].contains { $0.rawValue == decision }
    }

    /// A JSON object and a line end.
    package var line: [UInt8] {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var line = (try? encoder.encode(self)).map { [UInt8]($0) } ?? []
        line.append(UInt8(ascii: "\n"))
        return line
    }
}
