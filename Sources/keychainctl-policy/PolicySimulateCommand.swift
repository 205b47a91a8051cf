// SPDX-License-Identifier: Apache-2.0
internal import PolicyLanguage
internal import ArgumentParser
internal import PolicyTools

struct PolicySimulateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Decide requests as if every rule only complained.",
        discussion: """
            Reads and writes the lines of decide. The decision is what would happen without the \
            rules; "would" is what they make of it.
            """)

    @OptionGroup var policies: PolicyOptions

    func run() throws {
        let decider = PolicyDecider(try policies.loadUsable().policy.permissive)
        try RequestLines.answer(today: policies.today) { decider.decide($0) }
    }
}
