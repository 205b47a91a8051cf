// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainPolicyModel
import PolicyLanguage
import PolicySyntax
@testable import PolicyTools
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

    @Test func `what a test comes to does not hang on the day on which it runs`() {
        let text = """
            policy: v1
            name: n
            closed:
              - {id: n.c, resource: {access-group: g}}
            rules:
              - {id: n.p, permit: yes, resource: {access-group: g}, from: 2026-11-01, until: 2026-11-30}
              - {id: n.f, forbid: no, operations: sign, from: 2026-11-01}
            tests:
              - name: on a day
                request: {operation: add, resource: {access-group: g}}
                each: {at: ["2026-10-31T23:59", "2026-11-01T00:00", "2026-11-30T23:59", "2026-12-01T00:00"]}
                expect:
                  - {decision: deny, because: [n.c]}
                  - {decision: allow, because: [n.p]}
                  - {decision: allow, because: [n.p]}
                  - {decision: deny, because: [n.c]}
              - name: on no day, what opens does not and what tightens does
                request: {operation: add, resource: {access-group: g}}
                each: {operation: [add, sign]}
                expect:
                  - {decision: deny, because: [n.c]}
                  - {decision: deny, because: [n.f]}

            """
        for day in [testDay, testDay + 400] {
            let loaded = LoadedPolicies([[file(text)]], today: day)
            #expect(loaded.diagnostics.map(\.text) == [])
            let run = PolicyTestRun(loaded)
            #expect(run.diagnostics.map(\.text) == [] && run.outcomes.count == 6)
        }
    }

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

    // MARK: Groups, exceptions, freshness, windows

    private let groups = """
        policy: v1
        name: n
        groups:
          - {id: n.mail, group: mail, mode: read, members: [{unit: mail.service}, {user: ann}]}
          - {id: n.other, group: other, members: [{unit: other.service}]}
        tests:
          - name: members
            request: {operation: read-secret, subject: {unit: mail.service, member: false}, resource: {access-group: mail}}
            each: {subject.unit: [mail.service, web.service], operation: [read-secret, list]}
            expect: [{decision: allow}, {decision: deny}]

        """

    @Test func `a group is covered as rules are`() throws {
        let coverage = PolicyCoverage(load(groups))
        let mail = try #require(coverage.rules.first { $0.id == "n.mail" })
        #expect(mail.isCovered)
        #expect(
            mail.conditions.map(\.name) == [
                "members[0]: operations", "members[0]: subject.unit", "members[1]: operations",
                "members[1]: subject.user",
            ])
        #expect(mail.conditions.map(\.isDecisive) == [false, true, false, true])
        #expect(coverage.rules.filter { !$0.isCovered }.map(\.id) == ["n.other"])
        let untested = PolicyLint(load(groups), today: testDay).diagnostics.filter {
            $0.code == .untested
        }
        #expect(untested.map(\.message) == ["no test meets n.other"])
    }

    private func survivors(_ text: String) -> [String] {
        PolicyMutation.survivors(of: load(text)).survivors.map { "\($0.id): \($0.change)" }
    }

    @Test func `a stranger in a group is noticed where a test has one`() {
        let told = survivors(groups)
        #expect(!told.contains("n.mail: any program made a member"))
        #expect(!told.contains("n.mail: members[0] removed"))
        #expect(!told.contains("n.mail: members[0]: subject.unit dropped"))
        #expect(told.contains("n.mail: mode: read made write"))
        #expect(told.contains("n.mail: members[1] removed"))
        #expect(told.contains("n.mail: members[0]: subject.unit widened to mail.service*"))
        #expect(told.filter { $0.hasPrefix("n.other") }.count == 4)
        let strangers = groups.replacing(
            "web.service], operation", with: "mail.service], operation"
        )
        .replacing("{decision: deny}", with: "{decision: allow}")
        #expect(survivors(strangers).contains("n.mail: any program made a member"))
    }

    private let fine = """
        policy: v1
        name: n
        rules:
          - id: n.ask
            require: {all: [passcode, {k: 2, of: [confirm, companion, {pam: keychain-x}]}]}
            within: 5m
            scope: process
            operations: sign
            when: {time: {days: [mon-fri], between: "08:00-18:00"}, session-age: {min: 10m, max: 1h}}
            unless: [{subject: {unit: ci.service}, operations: sign}]
          - {id: n.less, redact: [account, label], operations: read-attributes}
          - {id: n.fresh, require: passcode, operations: export, resource: {service: mail}}
        tests:
          - name: t
            request: {operation: sign, at: "2026-11-20T08:00", when: {session-age: 10m}}
            expect: {decision: challenge}
          - name: less
            request: {operation: read-attributes}
            expect: {decision: allow, redacted: [account, label]}

        """

    @Test func `changes of exceptions, freshness, windows, counts and redactions are tried`() {
        let told = survivors(fine)
        for change in [
            "within made 0s", "within made 10m", "scope made tty", "all made any", "k made 1",
            "when.time on every day", "when.time an hour earlier", "when.time an hour longer",
            "when.session-age min dropped", "when.session-age max made 2h",
            "unless[0]: operations dropped", "unless[0]: subject.unit widened to ci.service*",
            "unless[0] dropped",
        ] {
            #expect(told.contains("n.ask: \(change)"), "\(told)")
        }
        #expect(!told.contains("n.ask: unless[0]: subject.unit dropped"))
        #expect(!told.contains("n.less: account shown"))
        // An export takes a fresh proof whatever is written.
        #expect(!told.contains { $0.hasPrefix("n.fresh: within") })
    }

    @Test func `a change of them is noticed where a test tells`() {
        let more =
            fine + """
                  - name: a proof of six minutes, of three
                    request: {operation: sign, at: "2026-11-20T08:00", when: {session-age: 10m}, evidence: {passcode: {age: 6m, scope: process}, confirm: {age: 3m, scope: process}, companion: {age: 3m, scope: process}}}
                    each: {evidence.passcode.age: [6m, 3m]}
                    expect: [{decision: challenge}, {decision: allow}]
                  - name: one of the two, and on a terminal
                    request: {operation: sign, at: "2026-11-20T08:00", when: {session-age: 10m}, evidence: {passcode: {age: 3m, scope: process}, confirm: {age: 3m, scope: process}}}
                    each: {evidence.confirm.scope: [process, process], evidence.companion.scope: [tty, session]}
                    expect: {decision: challenge}
                  - name: early, late, on a Saturday, too old
                    request: {operation: sign, at: "2026-11-20T07:59", when: {session-age: 10m}}
                    each: {at: ["2026-11-20T07:59", "2026-11-20T18:00", "2026-11-21T09:00", "2026-11-20T09:00"], when.session-age: [10m, 10m, 10m, 61m]}
                    expect: {decision: allow}

                """
        #expect(PolicyTestRun(load(more)).diagnostics.map(\.text) == [])
        let told = survivors(more)
        for change in [
            "within made 0s", "within made 10m", "scope made tty", "all made any", "k made 1",
            "when.time on every day", "when.time an hour earlier", "when.time an hour longer",
            "when.session-age max made 2h",
        ] {
            #expect(!told.contains("n.ask: \(change)"), "\(change)")
        }
    }

    @Test func `what a change does to the tests near to it is what it does to all`() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Policies")
        for name in ["10-baseline", "examples/05-kiosk", "examples/07-database-server"] {
            let loaded = LoadedPolicies(
                reading: [folder.appending(path: name + ".yaml").path], today: testDay)
            let file = try #require(loaded.files.first)
            var expected: [String] = []
            for (place, rule) in file.policy.rules.enumerated() where !rule.mutations.isEmpty {
                var without = file.policy
                without.rules.remove(at: place)
                let evaluator = ReferenceEvaluator(without)
                let isSeen = file.tests.contains { test in
                    !test.expected.differences(evaluator.decide(test.request)).isEmpty
                }
                if !isSeen { expected.append("\(rule.id)") }
            }
            let told = PolicyMutation.survivors(of: loaded).survivors.filter {
                $0.change == "removed"
            }
            let rules = Set(file.policy.rules.map(\.id))
            #expect(told.map(\.id).filter(rules.contains).map(\.string) == expected)
        }
    }
}
