// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// One decision of the keychain service, as far as this program understands its record.
struct AuditRecord: Decodable {
    /// As it was written, in UTC.
    let timeText: String
    let time: Date
    let operation: String
    let user: UInt32?
    let program: String
    let evidence: [String]
    let outcome: String
    /// The ids of the rules that made it so.
    let rules: [String]
    /// How many like it the record stands for.
    let count: Int
    /// Fingerprints of the items that were concerned.
    let items: [String]
    /// What the policy was asked, as `keychainctl policy decide` reads it, and what it said; nil
    /// where it had no word.
    let request: String?
    let decision: String?
    let requires: String?
    let would: String?

    /// Whether it ended otherwise than the caller wished, and not because there was no such item.
    var isRefusal: Bool { outcome != "allowed" && outcome != "notFound" }

    /// nil where the line is no record.
    init?(_ line: Data) {
        guard let record = try? JSONDecoder().decode(AuditRecord.self, from: line) else {
            return nil
        }
        self = record
    }

    private enum Key: CodingKey {
        case time, operation, user, program, evidence, outcome, because, count, items
        case request, decision, requires, would
    }

    init(from decoder: any Decoder) throws {
        let content = try decoder.container(keyedBy: Key.self)
        timeText = try content.decode(String.self, forKey: .time)
        guard let time = AuditTime(timeText) else {
            throw DecodingError.dataCorruptedError(
                forKey: .time, in: content, debugDescription: "no time")
        }
        self.time = time.date
        operation = try content.decode(String.self, forKey: .operation)
        outcome = try content.decode(String.self, forKey: .outcome)
        user = try content.decodeIfPresent(UInt32.self, forKey: .user)
        program = try content.decodeIfPresent(String.self, forKey: .program) ?? "unknown"
        evidence = try content.decodeIfPresent([String].self, forKey: .evidence) ?? []
        rules = try content.decodeIfPresent([String].self, forKey: .because) ?? []
        count = try content.decodeIfPresent(Int.self, forKey: .count) ?? 1
        items = try content.decodeIfPresent([String].self, forKey: .items) ?? []
        request = try content.decodeIfPresent(String.self, forKey: .request)
        decision = try content.decodeIfPresent(String.self, forKey: .decision)
        requires = try content.decodeIfPresent(String.self, forKey: .requires)
        would = try content.decodeIfPresent(String.self, forKey: .would)
    }
}
