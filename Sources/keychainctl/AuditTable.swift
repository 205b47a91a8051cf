// SPDX-License-Identifier: Apache-2.0
internal import Terminal

/// Records for people, a line each.
enum AuditTable {
    static let header = line(
        "TIME", "USER", "OPERATION", "OUTCOME", "COUNT", "PROVEN BY", "PROGRAM")

    static func row(_ record: AuditRecord) -> String {
        line(
            record.timeText, record.user.map(String.init) ?? "-", record.operation, record.outcome,
            String(record.count),
            record.evidence.isEmpty ? "-" : record.evidence.joined(separator: ","), record.program)
    }

    private static func line(
        _ time: String, _ user: String, _ operation: String, _ outcome: String, _ count: String,
        _ evidence: String, _ program: String
    ) -> String {
        let columns = [
            padded(time, 20), padded(user, 6), padded(operation, 14), padded(outcome, 20),
            padded(count, 6), padded(evidence, 17), PlainText.line(program),
        ]
        return columns.joined(separator: " ") + "\n"
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        let shown = PlainText.line(text)
        return shown + String(repeating: " ", count: max(0, width - shown.count))
    }
}
