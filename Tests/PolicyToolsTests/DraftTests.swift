// SPDX-License-Identifier: Apache-2.0
import PolicyLanguage
import PolicySyntax
import PolicyTools
import Testing

/// What `policy init` writes.
@Suite struct DraftTests {
    private static let choices: [[PolicyDraft.Ask]] = (0..<16).map { bits in
        PolicyDraft.Ask.allCases.enumerated().filter { bits >> $0.offset & 1 != 0 }.map(\.element)
    }

    private func load(_ draft: PolicyDraft) -> LoadedPolicies {
        LoadedPolicies([draft.files.map { file($0.text, $0.name) }], today: testDay)
    }

    @Test(arguments: PolicyDraft.Machine.allCases, choices)
    func `it is free of errors and warnings, and passes its tests`(
        _ machine: PolicyDraft.Machine, _ asks: [PolicyDraft.Ask]
    ) throws {
        let draft = try PolicyDraft(
            machine, units: ["backup.service", "postgresql@*.service", "my_app.sync.service"],
            operators: "sudo", asks: asks)
        #expect(draft.files.count == 3 + (asks.isEmpty ? 0 : 1))
        let loaded = load(draft)
        #expect(loaded.diagnostics.map(\.text) == [])
        #expect(PolicyLint(loaded, today: testDay).diagnostics.map(\.text) == [])
        let run = PolicyTestRun(loaded)
        #expect(run.diagnostics.map(\.text) == [])
        #expect(run.passedCount == run.outcomes.count && !run.outcomes.isEmpty)
        let coverage = PolicyCoverage(loaded)
        #expect(coverage.coveredRules == coverage.rules.count)
    }

    @Test func `its files are formatted as all are`() throws {
        let draft = try PolicyDraft(
            .shared, units: ["backup.service"], operators: "sudo", asks: PolicyDraft.Ask.allCases)
        for written in draft.files {
            let formatted = try PolicyFormatter.format(file(written.text, written.name))
            #expect(String(decoding: formatted, as: UTF8.self) == written.text)
        }
    }

    @Test(arguments: [
        "backup", "x@.service", "*.service", ".service", "a b.service", "a\".service", "a*.service",
        "é.service", "-.service",
    ])
    func `what no process runs in is no unit`(_ unit: String) {
        #expect(throws: PolicyDraft.Mistake.unit(unit)) {
            try PolicyDraft(.server, units: [unit], operators: "sudo", asks: [])
        }
    }

    @Test func `answers that make no policy are refused`() {
        #expect(throws: PolicyDraft.Mistake.nothing) {
            try PolicyDraft(.laptop, units: [], operators: "sudo", asks: [])
        }
        #expect(throws: PolicyDraft.Mistake.alike("a@1.service")) {
            try PolicyDraft(
                .server, units: ["a.service", "a@1.service"], operators: "sudo", asks: [])
        }
        #expect(throws: PolicyDraft.Mistake.group("a: b")) {
            try PolicyDraft(.server, units: ["a.service"], operators: "a: b", asks: [])
        }
    }
}
