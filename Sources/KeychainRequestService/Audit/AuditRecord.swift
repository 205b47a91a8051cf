// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import KeychainPolicyModel
internal import LoginManager

/// One decision, or several alike, as the file and the journal tell of it.
struct AuditRecord: Encodable, Sendable {
    let time: Date
    let operation: String
    let user: UInt32
    let process: Int32?
    let program: String
    let session: Int32?
    /// Methods of proof.
    let evidence: [String]
    /// `allowed`, or why not.
    let outcome: String
    /// Ids of the rules that made it so.
    let because: [String]
    /// Fingerprints of the items that were concerned.
    let items: [String]
    let count: Int
    let milliseconds: Double?
    /// What an item's list of programs had to do with it.
    let trust: String?
    let request: String?
    let decision: String?
    let requires: String?
    let would: String?
    /// Facts of the request that were too long to be told: their names, and how they begin.
    let cut: [String]

    /// Bytes of any text in a record. What a user may make as long as a program's name, an access
    /// group or an item's name would otherwise fill the file.
    static let longestText = 256
    static let longestRequest = 8 * 1024

    /// A text that is longer ends with “…”.
    static func cut(_ text: String) -> String { PolicyText(text).cut(to: longestText) }

    /// A JSON object and the line's end.
    var line: Data {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var line = (try? encoder.encode(self)) ?? Data()
        line.append(UInt8(ascii: "\n"))
        return line
    }
}

// MARK: In the journal

extension AuditRecord {
    /// Of every record of this kind (systemd.journal-fields(7)).
    private static let messageID = "ad6a9009a3284defab5968290d73a1c2"

    /// As `keychainctl audit --denied` has it.
    private var isRefusal: Bool { outcome != "allowed" && outcome != "notFound" }

    /// Fields of the journal's own and, as KEYCHAIN_…, the record's. Those of the request and of the
    /// decision are for machines that replay them, from the file.
    var journalFields: [Journal.Field] {
        let single: [(String, String?)] = [
            ("MESSAGE", message), ("MESSAGE_ID", Self.messageID),
            // syslog's numbers: notice and info; authpriv.
            ("PRIORITY", isRefusal ? "5" : "6"), ("SYSLOG_FACILITY", "10"),
            ("SYSLOG_IDENTIFIER", "keychaind"),
            ("KEYCHAIN_OPERATION", operation), ("KEYCHAIN_OUTCOME", outcome),
            ("KEYCHAIN_UID", "\(user)"), ("KEYCHAIN_PID", process.map { "\($0)" }),
            ("KEYCHAIN_PROGRAM", program), ("KEYCHAIN_SESSION", session.map { "\($0)" }),
            ("KEYCHAIN_COUNT", "\(count)"),
            ("KEYCHAIN_MILLISECONDS", milliseconds.map { "\($0)" }), ("KEYCHAIN_TRUST", trust),
            ("KEYCHAIN_REQUIRES", requires), ("KEYCHAIN_WOULD", would),
        ]
        let several = [
            ("KEYCHAIN_RULE", because), ("KEYCHAIN_ITEM", items), ("KEYCHAIN_EVIDENCE", evidence),
            ("KEYCHAIN_CUT", cut),
        ]
        return single.compactMap { name, value in value.map { Journal.Field(name, $0) } }
            + several.flatMap { name, values in values.map { Journal.Field(name, $0) } }
    }

    private var message: String {
        let often = count == 1 ? "" : ", \(count) times"
        let rules = because.isEmpty ? "" : " (\(because.joined(separator: ", ")))"
        return "\(operation) by user \(user)'s "
            + ShownText.cleaned(program, longest: Self.longestText)
            + ": \(outcome)\(rules)\(often)"
    }
}
