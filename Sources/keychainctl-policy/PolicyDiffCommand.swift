// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainCommands
internal import KeychainLinuxSystem
internal import KeychainPolicyModel
internal import PolicyAnalysis
internal import PolicyLanguage
internal import PolicyRequestSpace
internal import PolicySyntax
internal import PolicyTools
internal import Terminal

struct PolicyDiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Show which requests two sets decide differently.",
        discussion: """
            What is written differently and decides the same is no difference. Facts that are \
            absent and facts that can't be established count as well as known ones.

            diff OLD NEW compares two folders or files; --old and --new, repeated, several folders \
            a side. diff --with FILE compares what is in force with what would be, were the file \
            in /etc/keychain/policies.d, or in the last of the folders that --policies names.
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, json, table, csv, html
    }

    @Argument(help: "The folder or file of the old set, and that of the new one.")
    var sets: [String] = []
    @Option(
        help: ArgumentHelp("A folder or file of the old set; may be repeated.", valueName: "dir"))
    var old: [String] = []
    @Option(
        help: ArgumentHelp("A folder or file of the new set; may be repeated.", valueName: "dir"))
    var new: [String] = []
    @Option(
        help: ArgumentHelp(
            "A file or folder on top of what is in force; may be repeated.", valueName: "file"))
    var with: [String] = []
    @OptionGroup var policies: PolicyOptions
    @Flag(
        help:
            "End with 1 where a program can do more than before, or with less proof; or where this could not be decided."
    )
    var failOnNewAccess = false
    @Option(help: "text, json, table, csv, or html: a page with a picture.")
    var format = Format.text
    @Flag(help: "Write JSON.")
    var json = false

    /// A comparison of whole sets may take some seconds.
    private static let mostCells = 300 * PolicyAnalysis.mostCells

    func run() throws {
        let today = LocalTime.now.day
        let (before, after) = try sides(today)
        let analysis = PolicyAnalysis(before.policy, day: today, mostCells: Self.mostCells)
        let found = PolicyOutput.analysing { analysis.difference(to: after.policy) }
        StandardStream.output.write(text(found))
        let isWider = found.changes.contains { $0.isNewAccess || $0.needsLess }
        if failOnNewAccess, isWider || !found.isComplete { throw ExitCode.failure }
    }

    private func sides(_ today: Int32) throws -> (old: LoadedPolicies, new: LoadedPolicies) {
        let named = (old.isEmpty ? 0 : 1) + (new.isEmpty ? 0 : 1)
        switch (sets.count, named, with.isEmpty) {
        case (2, 0, true) where policies.folders.isEmpty:
            return (try load([sets[0]], today), try load([sets[1]], today))
        case (0, 2, true) where policies.folders.isEmpty:
            return (try load(old, today), try load(new, today))
        case (0, 0, false):
            let inForce = try policies.paths()
            // Without the administrator's folder, the first file is read in its place.
            let isThere =
                !policies.folders.isEmpty || inForce.last == LoadedPolicies.systemFolders.last
            let first = isThere ? 0 : 1
            return (
                try load(inForce, today),
                try load(inForce + with.prefix(first), adding: with.dropFirst(first), today)
            )
        default:
            throw ValidationError("Say two sets: OLD NEW, --old DIR --new DIR, or --with FILE.")
        }
    }

    private func text(_ found: PolicyDifference) -> String {
        switch json ? .json : format {
        case .json: PlainText.json(found.json) + "\n"
        case .table: DifferenceReport.table.text(found)
        case .csv: DifferenceReport.csv.text(found)
        case .html: DifferenceReport.html.text(found)
        case .text: PlainText.escaped(Self.text(found))
        }
    }

    private static func text(_ found: PolicyDifference) -> String {
        let shown = found.changes.prefix([RequestArea].mostEntries)
        let rest = found.changes.count - shown.count
        return shown.map(text).joined()
            + (rest > 0 ? "and \(rest) more differences; --json has all\n" : "")
            + found.summary + "\n" + (found.left.map { $0 + "\n" } ?? "")
    }

    private func load(
        _ paths: [String], adding added: some Sequence<String> = [], _ today: Int32
    ) throws -> LoadedPolicies {
        let loaded = LoadedPolicies(reading: paths, adding: Array(added), today: today)
        guard loaded.hasErrors else { return loaded }
        PolicyOutput.tell(loaded.diagnostics.filter { $0.severity == .error })
        throw ExitCode.failure
    }

    private static func text(_ change: PolicyChange) -> String {
        let place = change.isExact ? "" : ", for some of these requests"
        let causes = change.causes.isEmpty ? "" : ", by " + change.causes
        return """
            \(change.heading)\(causes)\(place)
            \(AccessText.lines(change.areas).joined(separator: "\n"))
                for example: \(change.request.json)
                    before: \(change.before.words)
                    after: \(change.after.words)

            """
    }
}
