// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import FoundationEssentials
internal import KeychainCommands
internal import Terminal

struct PolicyLogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log", abstract: "Show which policies were in force when, and what changed.",
        discussion: """
            For root, who alone may read the records. Each record of a decision has the revision of \
            the policies that decided it: a hash over them, and which taking up of policies since \
            the service began it was. As far back as the records go.
            """)

    @Option(
        help: ArgumentHelp(
            "Not older than this: 90s, 30m, 1h, 7d, boot, or an ISO 8601 time.",
            valueName: "when"),
        transform: PolicyRecords.moment)
    var since: Date?
    @Option(help: "The folder that the keychain service was given with --state.")
    var state = "/var/lib/keychain"

    func run() throws {
        var trail = try AuditTrail(folder: state)
        var history = PolicyHistory()
        while let lines = try trail.next() {
            for record in lines.compactMap(AuditRecord.init) { history.add(record) }
        }
        let shown = history.entries.filter { entry in since.map { entry.time >= $0 } ?? true }
        StandardStream.output.write(
            shown.isEmpty
                ? "no policies were read\n"
                : PlainText.escaped(shown.flatMap(\.lines).joined(separator: "\n")) + "\n")
    }
}
