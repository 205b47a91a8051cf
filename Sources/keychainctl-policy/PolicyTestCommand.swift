// SPDX-License-Identifier: Apache-2.0
internal import PolicyLanguage
internal import KeychainPolicyModel
internal import ArgumentParser
internal import KeychainCommands
internal import PolicyTools
internal import Terminal

struct PolicyTestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Run the tests of policies and say what they cover.",
        discussion: """
            The tests in a file are run against the rules of that file; those in *_test.yaml \
            against the whole set.
            """)

    @OptionGroup var policies: PolicyOptions
    @Flag(help: "Show each rule and condition that no test covers.")
    var coverage = false
    @Flag(help: "Write JSON.")
    var json = false

    func run() throws {
        let loaded = try policies.loadUsable()
        let run = PolicyTestRun(loaded)
        let covered = PolicyCoverage(loaded)
        if json {
            JSONOutput.write(PolicyTestRecord(run, covered))
        } else {
            PolicyOutput.tell(run.diagnostics, to: .output)
            if coverage { StandardStream.output.write(Self.uncovered(covered)) }
            StandardStream.output.write(Self.summary(run, covered))
        }
        if !run.diagnostics.isEmpty { throw ExitCode.failure }
    }

    private static func summary(_ run: PolicyTestRun, _ covered: PolicyCoverage) -> String {
        """
        \(run.passedCount) of \(PolicyOutput.count(run.outcomes.count, "test")) passed
        \(covered.coveredRules) of \(PolicyOutput.count(covered.rules.count, "rule")) covered, \
        \(covered.coveredConditions) of \(PolicyOutput.count(covered.conditionCount, "condition"))

        """
    }

    private static func uncovered(_ covered: PolicyCoverage) -> String {
        covered.rules.map { rule in
            let place = "\(rule.origin.file):\(rule.origin.line)"
            guard rule.isCovered else { return "\(place): \(rule.id): no test meets it\n" }
            return rule.conditions.filter { !$0.isDecisive }.map {
                "\(place): \(rule.id): no test is decided by \($0.name)\n"
            }.joined()
        }.joined()
    }
}

private struct PolicyTestRecord: Encodable {
    struct Test: Encodable {
        let name: String
        let file: String
        let line: Int
        let passed: Bool
        let differences: [String]
    }
    struct Rule: Encodable {
        let id: String
        let covered: Bool
        let conditions: [String: Bool]
    }

    let passed: Int
    let tests: [Test]
    let rules: [Rule]

    init(_ run: PolicyTestRun, _ coverage: PolicyCoverage) {
        passed = run.passedCount
        tests = run.outcomes.map {
            Test(
                name: $0.test.name, file: $0.test.origin.file, line: $0.test.origin.line,
                passed: $0.passed, differences: $0.differences)
        }
        rules = coverage.rules.map { rule in
            Rule(
                id: rule.id.string, covered: rule.isCovered,
                conditions: Dictionary(
                    rule.conditions.map { ($0.name, rule.isCovered && $0.isDecisive) },
                    uniquingKeysWith: { $0 && $1 }))
        }
    }
}
