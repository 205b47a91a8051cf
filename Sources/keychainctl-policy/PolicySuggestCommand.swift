// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel
internal import PolicyLanguage
internal import ArgumentParser
internal import KeychainCommands
internal import PolicyTools
internal import Terminal

struct PolicySuggestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "suggest",
        abstract:
            "Suggest the smallest rules for what was refused, or a rule on trial would refuse.",
        discussion: """
            For root, who alone may read the records. Nothing is installed: above each rule stands \
            what it would open, for a person to judge. What was refused may have been refused \
            rightly.
            """)

    @OptionGroup var records: PolicyRecords
    @OptionGroup var policies: PolicyOptions

    func run() throws {
        let policy = try policies.loadUsable().policy
        let entries = try records.read().entries
        let trials = entries.filter { $0.record.would == "deny" }
        let suggestion = PolicyOutput.analysing {
            PolicySuggestion(
                entries.filter { $0.decision == .deny }.map(\.request),
                onTrial: trials.map(\.request), under: policy, day: policies.today)
        }
        StandardStream.output.write(
            suggestion.text.isEmpty
                ? "# nothing was refused that a rule could let through\n"
                : PlainText.escaped(suggestion.text))
    }
}
