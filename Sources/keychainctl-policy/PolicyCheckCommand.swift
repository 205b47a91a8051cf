// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel
internal import ArgumentParser
internal import PolicyLanguage
internal import PolicySyntax
internal import PolicyTools
internal import Terminal

struct PolicyCheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check form, words, references, tests and assertions.")

    @OptionGroup var policies: PolicyOptions
    @Flag(help: "Do not run the tests.")
    var noTests = false
    @Flag(help: "Write JSON.")
    var json = false
    @Flag(help: "Write SARIF 2.1.0.")
    var sarif = false

    func validate() throws {
        if json, sarif { throw ValidationError("--json and --sarif exclude each other.") }
    }

    func run() throws {
        let loaded = try policies.load()
        var diagnostics = loaded.diagnostics
        var tests: PolicyTestRun?
        if !loaded.hasErrors, !noTests {
            tests = PolicyTestRun(loaded)
            diagnostics += tests?.diagnostics ?? []
        }
        if !loaded.hasErrors {
            let today = policies.today
            diagnostics += PolicyOutput.analysing {
                PolicyProofs(loaded, today: today).diagnostics
                    + PolicyLint(forCheckOf: loaded, today: today).diagnostics
            }
        }
        let report = DiagnosticReport(diagnostics.sorted())
        if json {
            StandardStream.output.write(PlainText.json(report.json) + "\n")
        } else if sarif {
            StandardStream.output.write(report.sarif + "\n")
        } else {
            tell(report, loaded, tests)
        }
        if report.errorCount > 0 { throw ExitCode.failure }
    }

    private func tell(
        _ report: DiagnosticReport, _ loaded: LoadedPolicies, _ tests: PolicyTestRun?
    ) {
        PolicyOutput.tell(report.diagnostics, to: .output)
        let rules =
            loaded.policy.rules.count + loaded.policy.closed.count
            + loaded.policy.groups.count
        var counts = [
            PolicyOutput.count(loaded.files.count { !$0.isMask }, "file"),
            PolicyOutput.count(rules, "rule"),
            PolicyOutput.count(report.errorCount, "error"),
            PolicyOutput.count(report.warningCount, "warning"),
        ]
        if let tests {
            let all = PolicyOutput.count(tests.outcomes.count, "test")
            counts.append("\(tests.passedCount) of \(all) passed")
        }
        StandardStream.output.write(counts.joined(separator: ", ") + "\n")
    }
}
