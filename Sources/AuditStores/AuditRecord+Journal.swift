// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainRequestAudit
internal import KeychainUserPresence
internal import LoginManager

extension AuditRecord {
    /// The message identifier of all audit records (systemd.journal-fields(7)).
    private static let messageID = "ad6a9009a3284defab5968290d73a1c2"

    /// The journal's standard fields and, as KEYCHAIN_…, the record's own. The request's and the
    /// decision's fields are only in the file, for programs that replay them.
    var journalFields: [Journal.Field] {
        let single: [(String, String?)] = [
            ("MESSAGE", message), ("MESSAGE_ID", Self.messageID),
            // syslog's numbers: notice and info; authpriv.
            ("PRIORITY", outcome.isRefusal ? "5" : "6"), ("SYSLOG_FACILITY", "10"),
            ("SYSLOG_IDENTIFIER", "keychaind"),
            ("KEYCHAIN_OPERATION", operation), ("KEYCHAIN_OUTCOME", outcome.description),
            ("KEYCHAIN_UID", "\(user)"), ("KEYCHAIN_PID", process.map { "\($0)" }),
            ("KEYCHAIN_PROGRAM", program), ("KEYCHAIN_VIA", via),
            ("KEYCHAIN_SESSION", session.map { "\($0)" }),
            ("KEYCHAIN_COUNT", "\(count)"),
            ("KEYCHAIN_MILLISECONDS", milliseconds.map { "\($0)" }), ("KEYCHAIN_TRUST", trust),
            ("KEYCHAIN_LOST", lost.map { "\($0)" }),
            ("KEYCHAIN_REQUIRES", requires), ("KEYCHAIN_WOULD", would), ("KEYCHAIN_POLICY", policy),
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
            + (via.map { " through \($0)" } ?? "")
            + ": \(outcome)\(rules)\(often)"
    }
}
