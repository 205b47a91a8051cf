// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import Terminal

/// Records for people, a line each.
enum AuditTable {
    /// The program comes last: its user may have given it any name, and any length of name.
    static let header = line(
        ["TIME", "USER", "OPERATION", "OUTCOME", "COUNT", "PROVEN BY", "RULES", "PROGRAM"])
    private static let widths = [20, 6, 14, 20, 6, 10, 14, 0]

    static func row(_ record: AuditRecord) -> String {
        line([
            record.timeText, record.user.map(String.init) ?? "-", record.operation,
            record.outcome.description,
            String(record.count), listed(record.evidence), listed(record.rules), named(record),
        ])
    }

    private static func named(_ record: AuditRecord) -> String {
        record.program + (record.via.map { " through \($0)" } ?? "")
            + (record.lost > 0 ? " (\(record.lost) records before it were lost)" : "")
    }

    private static func listed(_ names: [String]) -> String {
        names.isEmpty ? "-" : names.joined(separator: ",")
    }

    private static func line(_ columns: [String]) -> String {
        zip(columns, widths).map(padded).joined(separator: " ") + "\n"
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        let shown = PlainText.line(text)
        return shown + String(repeating: " ", count: max(0, width - shown.count))
    }
}
