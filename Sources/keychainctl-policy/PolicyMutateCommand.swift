// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel
internal import ArgumentParser
internal import PolicyTools
internal import Terminal

struct PolicyMutateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mutate",
        abstract: "Change each rule a little, and show the changes that no test notices.")

    @OptionGroup var policies: PolicyOptions
    @Flag(help: "End with 1 where a change goes unnoticed.")
    var strict = false

    func run() throws {
        let loaded = try policies.loadUsable()
        let run = PolicyTestRun(loaded)
        guard run.diagnostics.isEmpty else {
            PolicyOutput.tell(run.diagnostics)
            throw ExitCode.failure
        }
        let (tried, survivors) = PolicyOutput.analysing { PolicyMutation.survivors(of: loaded) }
        for survivor in survivors {
            StandardStream.output.write(
                PlainText.line(
                    "\(survivor.origin.file):\(survivor.origin.line): \(survivor.id): "
                        + survivor.change) + "\n")
        }
        StandardStream.output.write(
            "\(tried - survivors.count) of \(PolicyOutput.count(tried, "change")) noticed\n")
        if strict, !survivors.isEmpty { throw ExitCode.failure }
    }
}
