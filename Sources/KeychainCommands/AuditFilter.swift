// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainModel

/// Which records are shown: those that meet every condition.
struct AuditFilter: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Not older than this: 90s, 30m, 1h, 7d, or an ISO 8601 time.", valueName: "when"),
        transform: Self.moment)
    var since: Date?

    @Option(
        help: ArgumentHelp(
            "A program (exe:/usr/bin/git, /usr/bin/git or git), or a user's number.",
            valueName: "program"))
    var caller: String?

    @Option(help: "An item, by its fingerprint in the records, or the beginning of it.")
    var item: String?

    @Flag(help: "Only what was refused or failed.")
    var denied = false

    func matches(_ record: AuditRecord) -> Bool {
        if let since, record.time < since { return false }
        if let caller, !Self.isCaller(caller, record) { return false }
        if let item, !record.items.contains(where: { $0.hasPrefix(item) }) { return false }
        return !denied || record.outcome.isRefusal
    }

    private static func isCaller(_ wanted: String, _ record: AuditRecord) -> Bool {
        let program = record.program
        return wanted == program || program.hasSuffix(":" + wanted)
            || program.hasSuffix("/" + wanted) || record.user.map(String.init) == wanted
    }

    private static func moment(_ text: String) throws -> Date {
        guard let time = AuditTime(text, before: Date()) else {
            throw ValidationError(
                "“\(text)” is no time; write 30m, 1h, 7d, 2026-01-31 or 2026-01-31T08:00:00Z")
        }
        return time.date
    }
}
