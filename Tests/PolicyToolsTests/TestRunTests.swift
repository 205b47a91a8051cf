// SPDX-License-Identifier: Apache-2.0
import KeychainPolicyModel
import PolicyLanguage
import PolicyTools
import Testing

/// What the tests in policies are worth.
struct TestRunTests {
    private let policy = """
        policy: v1
        name: n
        rules:
          - id: n.export
            forbid: No.
            operations: export
            subject: {user: [a, b], session: ssh}
          - {id: n.unseen, require: passcode, operations: sign}
        tests:
          - name: over ssh
            request: {operation: export, subject: {user: a, session: ssh}}
            expect: {decision: deny, because: [n.export]}
          - name: a table
            request: {operation: export, subject: {user: a}}
            each: {subject.session: [seat, ssh, unknown!], user: [a, c, b]}
            expect: [{decision: allow}, {decision: allow}, {decision: deny}]

        """

    @Test func `each row of a table is a test`() {
        let run = PolicyTestRun(load(policy))
        #expect(run.diagnostics.isEmpty)
        #expect(run.passedCount == 4)
        #expect(
            run.outcomes.map(\.test.name) == [
                "over ssh", "a table [subject.session=seat, subject.user=a]",
                "a table [subject.session=ssh, subject.user=c]",
                "a table [subject.session=unknown!, subject.user=b]",
            ])
    }

    @Test func `a condition is covered once it decides alone`() {
        let coverage = PolicyCoverage(load(policy))
        let export = coverage.rules.first { $0.id == "n.export" }
        #expect(export?.isCovered == true)
        #expect(
            export?.conditions.map(\.name) == [
                "operations", "subject.user", "subject.session",
            ])
        #expect(export?.conditions.map(\.isDecisive) == [false, true, true])
        #expect(coverage.coveredRules == 1)
        #expect(coverage.coveredConditions == 2)
        #expect(coverage.conditionCount == 4)
    }

    @Test func `changes that no test notices are told`() {
        let (tried, survivors) = PolicyMutation.survivors(of: load(policy))
        let told = survivors.map { "\($0.id): \($0.change)" }
        #expect(tried > told.count)
        #expect(told.contains("n.export: operations dropped"))
        #expect(told.contains("n.export: subject.user widened to b*"))
        #expect(told.contains("n.unseen: removed"))
        #expect(!told.contains("n.export: removed"))
        #expect(!told.contains("n.export: subject.user dropped"))
        #expect(!told.contains("n.export: forbid made permit"))
    }

    @Test func `tests hold for the file's own rules, those of a test file for the set`() {
        let other = file(rules("  - {id: o.all, forbid: no}\n"), "o.yaml")
        let suite = file(
            """
            policy: v1
            name: suite
            tests:
              - name: both
                request: {operation: export, subject: {user: a, session: ssh}}
                expect: {decision: deny, because: [n.export, o.all]}

            """, "all_test.yaml")
        let run = PolicyTestRun(
            LoadedPolicies([[file(policy), other, suite]], today: testDay))
        #expect(run.diagnostics.isEmpty)
        #expect(run.passedCount == 5)
    }

    @Test func `what is expected is compared in its canonical form`() {
        let text = rules(
            """
              - {id: a.b, require: {all: [passcode, {all: [confirm, passcode]}]}}
            tests:
              - name: t
                request: {operation: sign}
                expect: {decision: challenge, requires: {all: [confirm, passcode]}, would: null}
              - name: none
                request: {operation: sign, evidence: {passcode: {scope: context}, confirm: {scope: context}}}
                expect: {decision: allow, requires: null, redacted: []}

            """)
        #expect(PolicyTestRun(load(text)).diagnostics.isEmpty)
    }
}
