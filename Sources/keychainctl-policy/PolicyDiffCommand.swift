// SPDX-License-Identifier: Apache-2.0
internal import PolicySyntax
internal import KeychainPolicyModel
internal import PolicyTools
internal import ArgumentParser
internal import KeychainLinuxSystem
internal import PolicyAnalysis
internal import PolicyLanguage
internal import Terminal

struct PolicyDiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Show which requests two sets decide differently.",
        discussion: """
            What is written differently and decides the same is no difference. Facts that are \
            absent and facts that can't be established count as well as known ones.
            """)

    @Argument(help: "The folder or file of the old set.")
    var old: String
    @Argument(help: "The folder or file of the new set.")
    var new: String
    @Flag(help: "End with 1 where a program can do more than before, or this could not be decided.")
    var failOnNewAccess = false
    @Flag(help: "Write JSON.")
    var json = false

    /// Who compares whole sets waits some seconds for the answer.
    private static let mostCells = 300 * PolicyAnalysis.mostCells

    func run() throws {
        let today = LocalTime.now.day
        let (before, after) = (try load(old, today), try load(new, today))
        let analysis = PolicyAnalysis(before.policy, day: today, mostCells: Self.mostCells)
        let found = analysis.difference(to: after.policy)
        let widening = found.changes.count { $0.isNewAccess }
        if json {
            StandardStream.output.write(PlainText.json(found.json) + "\n")
        } else {
            tell(found, widening)
        }
        if failOnNewAccess, widening > 0 || !found.isComplete { throw ExitCode.failure }
    }

    private func tell(_ found: PolicyDifference, _ widening: Int) {
        for change in found.changes { StandardStream.output.write(Self.text(change)) }
        StandardStream.output.write(
            "\(PolicyOutput.count(found.changes.count, "difference")), \(widening) of new access\n")
        if !found.isComplete {
            StandardStream.output.write("not decided: there may be more; the budget is spent\n")
        }
    }

    private func load(_ path: String, _ today: Int32) throws -> LoadedPolicies {
        let loaded = LoadedPolicies(reading: [path], today: today)
        guard loaded.hasErrors else { return loaded }
        PolicyOutput.tell(loaded.diagnostics.filter { $0.severity == .error })
        throw ExitCode.failure
    }

    private static func text(_ change: PolicyChange) -> String {
        let area = change.area.isEmpty ? "any request" : change.area.joined(separator: "; ")
        return PlainText.escaped(
            """
            \(change.kind.rawValue): \(area)
                before: \(AccessText.words(change.before))
                after: \(AccessText.words(change.after))
                for example: \(change.request.json)

            """)
    }
}
