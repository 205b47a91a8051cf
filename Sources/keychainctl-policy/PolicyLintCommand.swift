// SPDX-License-Identifier: Apache-2.0
internal import PolicyLanguage
internal import ArgumentParser
internal import PolicySyntax
internal import PolicyTools
internal import Terminal

struct PolicyLintCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lint", abstract: "Show what a policy probably does not mean.")

    @OptionGroup var policies: PolicyOptions
    @Flag(help: "Also name users, groups, programs, units and PAM services that are missing here.")
    var thisMachine = false
    @Flag(help: "Write JSON.")
    var json = false
    @Flag(help: "End with 1 also where there are warnings only.")
    var strict = false

    func run() throws {
        let loaded = try policies.loadUsable()
        let machine = thisMachine ? Machine() : nil
        let found = PolicyOutput.analysing {
            PolicyLint(
                loaded, today: policies.today, on: machine.map { machine in { machine.has($0) } })
        }
        let report = DiagnosticReport(
            (loaded.diagnostics.filter { $0.code.rawValue >= 1_016 } + found.diagnostics).sorted())
        if json {
            StandardStream.output.write(PlainText.json(report.json) + "\n")
        } else {
            PolicyOutput.tell(report.diagnostics, to: .output)
            StandardStream.output.write(
                PolicyOutput.count(report.warningCount, "warning") + "\n")
        }
        if report.errorCount > 0 || (strict && report.warningCount > 0) { throw ExitCode.failure }
    }
}
