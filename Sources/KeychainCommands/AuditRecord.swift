// SPDX-License-Identifier: Apache-2.0
package import FoundationEssentials
package import KeychainModel

/// One decision of the keychain service, as far as this program understands its record.
package struct AuditRecord: Decodable {
    /// As it was written, in UTC.
    package let timeText: String
    package let time: Date
    package let operation: String
    package let user: UInt32?
    package let program: String
    /// The service that brought the program's request.
    let via: String?
    package let evidence: [String]
    package let outcome: AuditOutcome
    /// The ids of the rules that made it so.
    package let rules: [String]
    /// How many like it the record stands for.
    package let count: Int
    /// Fingerprints of the items that were concerned.
    package let items: [String]
    /// What the policy was asked, as `keychainctl policy decide` reads it, and what it said; nil
    /// where it had no word.
    package let request: String?
    package let decision: String?
    package let requires: String?
    package let would: String?
    /// The revision of the policies that decided, or that were read.
    package let policy: String?
    /// Of what policies were read.
    package let loaded: PolicyLoad?
    /// The number of the user's records before this one that could not be written.
    let lost: Int

    /// nil where the line is no record.
    package init?(_ line: [UInt8]) {
        guard let record = try? JSONDecoder().decode(AuditRecord.self, from: Data(line)) else {
            return nil
        }
        self = record
    }

    package init(from decoder: any Decoder) throws {
        let content = try decoder.container(keyedBy: AuditField.self)
        timeText = try content.decode(String.self, forKey: .time)
        guard let time = AuditTime(timeText) else {
            throw DecodingError.dataCorruptedError(
                forKey: .time, in: content, debugDescription: "no time")
        }
        self.time = time.date
        operation = try content.decode(String.self, forKey: .operation)
        outcome = AuditOutcome(try content.decode(String.self, forKey: .outcome))
        user = try content.decodeIfPresent(UInt32.self, forKey: .user)
        program = try content.decodeIfPresent(String.self, forKey: .program) ?? "unknown"
        via = try content.decodeIfPresent(String.self, forKey: .via)
        evidence = try content.decodeIfPresent([String].self, forKey: .evidence) ?? []
        rules = try content.decodeIfPresent([String].self, forKey: .because) ?? []
        count = try content.decodeIfPresent(Int.self, forKey: .count) ?? 1
        items = try content.decodeIfPresent([String].self, forKey: .items) ?? []
        request = try content.decodeIfPresent(String.self, forKey: .request)
        decision = try content.decodeIfPresent(String.self, forKey: .decision)
        requires = try content.decodeIfPresent(String.self, forKey: .requires)
        would = try content.decodeIfPresent(String.self, forKey: .would)
        policy = try content.decodeIfPresent(String.self, forKey: .policy)
        loaded = try content.decodeIfPresent(PolicyLoad.self, forKey: .loaded)
        lost = try content.decodeIfPresent(Int.self, forKey: .lost) ?? 0
    }
}
