// SPDX-License-Identifier: Apache-2.0
import KeychainPolicyModel
import PolicyLanguage
import PolicySyntax
import PolicyTools
import Testing

/// Requests as lines of JSON, and decisions as such.
struct RequestTests {
    private func read(_ line: String) throws -> PolicyRequest {
        try RequestLine.read(line, today: testDay)
    }

    private func mistake(_ line: String) -> String? {
        do throws(RequestLine.Mistake) {
            _ = try RequestLine.read(line, today: testDay)
            return nil
        } catch {
            return error.message
        }
    }

    @Test func `every kind of fact is read`() throws {
        let request = try read(
            """
            {"operation": "update", "at": "2026-11-20T22:30",
             "subject": {"user": "u", "uid": 1000, "group": ["a", "b"], "exe": "unknown!",
                         "trusted-exe": true, "session": "ssh", "member": "unknown!"},
             "resource": {"server": "GIT.Example", "class": "key", "flags": ["user-presence"],
                          "accessible": "always", "constraint": {"any": ["passcode", "biometry"]}},
             "when": {"remote": true, "session-age": "5m", "presence-age": "unknown!"},
             "evidence": {"passcode": {"age": "2m", "scope": "process"},
                          "pam": {"keychain-otp": {"scope": "tty"}}},
             "before": {"resource": {"service": "old"}}, "interactive": false}
            """)
        let facts = request.facts
        #expect(request.operation == .update)
        #expect(facts[.user] == .known(["u"]))
        #expect(facts.uid == .known(1000))
        #expect(facts[.group] == .known(["a", "b"]))
        #expect(facts[.exe] == .unknown)
        #expect(facts[.unit] == .absent)
        #expect(facts[.trustedExe] == .known(true))
        #expect(facts[.member] == .unknown)
        #expect(facts[.session] == .known(1))
        #expect(facts[.server] == .known(["git.example"]))
        #expect(facts[.itemClass] == .known(ChoiceField.keyClass))
        #expect(facts.flags == .known([PolicyItemFlags(word: "user-presence") ?? []]))
        #expect(facts.constraint == .needs(.any([.factor(.passcode), .factor(.biometry)])))
        #expect(facts[.remote] == .known(true))
        #expect(facts[AgeField.session] == .known(.minutes(5)))
        #expect(facts[AgeField.presence] == .unknown)
        #expect(facts[.interactive] == .known(false))
        // A Friday.
        #expect(facts.time == MinuteOfWeek(day: 4, hour: 22, minute: 30).map { .known($0) })
        #expect(request.day == testDay - 1)
        #expect(request.before?[.service] == .known(["old"]))
        #expect(
            request.evidence == [
                PolicyProof(.factor(.passcode), age: .minutes(2), scope: .process),
                PolicyProof(.pam("keychain-otp"), age: .zero, scope: .tty),
            ])
    }

    @Test(
        arguments: [
            ("unit: a.service", "unit:a.service", true),
            ("unit: a.service", "unit:b.service", false),
            ("unit: a.service, exe: /bin/a", "exe:/bin/a", false),
            ("exe: /bin/a", "exe:/bin/a", true), ("exe: /bin/a", "deploy", nil),
            ("app: 'snap:x'", "snap:x", true),
            ("app: 'flatpak:x', exe: /bin/a", "flatpak:y", false),
            ("unit: a.service, member: true", "unit:b.service", true),
            ("user: ann", "deploy", nil), ("unit: unknown!, exe: /bin/a", "exe:/bin/a", nil),
            ("exe: /bin/a", "selinux:x_t", nil), ("exe: /bin/a", nil, nil),
        ] as [(String, String?, Bool?)])
    func `who is a member follows from the names`(
        _ subject: String, _ group: String?, _ isMember: Bool?
    ) throws {
        let item = group.map { ", access-group: '\($0)'" } ?? ""
        let text = """
            policy: v1
            name: n
            tests:
              - name: t
                request: {operation: sign, subject: {\(subject)}, resource: {class: key\(item)}}
                expect: {decision: allow}

            """
        let request = try #require(load(text).files.first?.tests.first?.request)
        #expect(request.facts[.member] == isMember.map { .known($0) } ?? .absent)
    }

    @Test func `an update is told from each item's own group whose it is`() throws {
        let request = try read(
            #"{"operation": "update", "subject": {"unit": "a.service"}, "#
                + #""resource": {"access-group": "unit:a.service"}, "#
                + #""before": {"resource": {"access-group": "unit:b.service"}}}"#)
        #expect(request.facts[.member] == .known(true))
        #expect(request.before?[.member] == .known(false))
    }

    @Test func `a request that is written keeps whom it takes for a member`() throws {
        var facts = PolicyFacts()
        facts[.unit] = .known(["a.service"])
        facts[.accessGroup] = .known(["unit:b.service"])
        let line = PolicyRequest(.sign, facts: facts, day: testDay).json
        #expect(try read(line).facts[.member] == .known(true))
    }

    @Test func `approvals are read and written with the people's names`() throws {
        let line =
            #"{"operation": "sign", "evidence": {"approval": "#
            + #"{"ann": {"age": "0s", "scope": "operation"}}}}"#
        let request = try read(line)
        #expect(
            request.evidence == [PolicyProof(.approval(by: "ann"), age: .zero, scope: .operation)])
        #expect(request.json == line)
    }

    @Test func `who approved is told by explain, and counts in a replay`() throws {
        func policy(of names: String) -> PolicySet {
            load(rules("  - {id: n.r, operations: sign, require: {approval: \(names)}}\n")).policy
        }
        let request = try read(
            #"{"operation": "sign", "evidence": {"approval": {"bob": {"scope": "operation"}}}}"#)
        #expect(Explanation(request, under: policy(of: "[ann, bob]")).approvers == ["bob"])
        let recorded = try read(request.json)
        for (names, verdict) in [
            ("[ann, bob]", PolicyReplay.Verdict.same), ("[ann, eve]", .otherwise),
            ("[bob@corp.example]", .otherwise),
        ] {
            let replay = PolicyReplay(policy(of: names))
            #expect(replay.verdict(on: recorded, was: .allow, nil).verdict == verdict)
        }
    }

    @Test func `an approval is met by a named person's and by no service of the name`() {
        let text = """
            policy: v1
            name: n
            rules:
              - {id: n.r, require: {approval: [ann, bob]}, operations: sign}
            tests:
              - name: who approved
                request: {operation: sign, resource: {class: key}}
                each:
                  evidence:
                    - {}
                    - {approval: {bob: {age: 0s, scope: operation}}}
                    - {approval: {eve: {age: 0s, scope: operation}}}
                    - {passcode: {age: 0s, scope: operation}}
                expect:
                  - {decision: challenge, requires: {approval: [ann, bob]}}
                  - {decision: allow}
                  - {decision: challenge}
                  - {decision: challenge}

            """
        let loaded = load(text)
        #expect(loaded.diagnostics.map(\.text) == [])
        #expect(PolicyTestRun(loaded).diagnostics.map(\.text) == [])
    }

    @Test func `a date may be said without a time`() throws {
        let request = try read(#"{"operation": "sign", "when": {"date": "2027-01-31"}}"#)
        #expect(request.day == testDay + 71)
        #expect(request.facts.time == .absent)
        #expect(request.json.contains(#""when": {"date": "2027-01-31"}"#))
        // The day of the week is that of the date.
        let sunday = try read(
            #"{"operation": "sign", "when": {"date": "2027-01-31", "time": "08:00"}}"#)
        #expect(sunday.facts.time == MinuteOfWeek(day: 6, hour: 8, minute: 0).map { .known($0) })
        #expect(try read(#"{"operation": "sign"}"#).day == testDay)
    }

    @Test func `a time may be said without a date`() throws {
        let saturday = try read(#"{"operation": "sign", "when": {"time": "08:00"}}"#)
        #expect(saturday.facts.time == MinuteOfWeek(day: 5, hour: 8, minute: 0).map { .known($0) })
        let monday = try read(#"{"operation": "sign", "when": {"time": "mon 08:00"}}"#)
        #expect(monday.facts.time == MinuteOfWeek(day: 0, hour: 8, minute: 0).map { .known($0) })
        let both = try read(
            #"{"operation": "sign", "at": "2026-11-20T22:30", "when": {"time": "unknown!"}}"#)
        #expect(both.facts.time == .unknown)
    }

    @Test(arguments: [
        ("{", "this is not JSON: at column 2"),
        ("{\"operation\": sign}", "this is not JSON: at column 15"),
        ("{\"a\": \"\\ud800x\"}", "this is not JSON: at column 14"),
        (
            #"{"operation": "sign", "operation": "add"}"#,
            "the key \"operation\" stands twice in one object"
        ),
        (String(repeating: "[", count: 100_000), "nested deeper than 16 levels"),
        (
            "[]",
            "a request is a list, not a mapping: as {operation: read-secret, subject: {user: ann}}"
        ),
        ("{}", "a request without \"operation\": add it"),
        (
            #"{"operation": "sign", "subject": {"usr": "u"}}"#,
            "unknown fact \"usr\": did you mean \"user\"?"
        ),
        (
            #"{"operation": "sign", "subject": {"user": null}}"#,
            "null is no value: leave the key out"
        ),
        (
            #"{"operation": "sign", "subject": {"user": ["a", "b"]}}"#,
            "subject.user is a list, not a word"
        ),
        (
            #"{"operation": "sign", "subject": {"uid": -1}}"#,
            "\"-1\" is no uid: decimal digits"
        ),
        (
            #"{"operation": "sign", "interactive": true, "when": {"interactive": false}}"#,
            "\"interactive\" and \"when.interactive\" differ: "
                + "they are one fact; write one of them"
        ),
    ])
    func `what is no request is told`(_ line: String, _ told: String) {
        #expect(mistake(line) == told)
    }

    @Test func `texts of JSON are read as it writes them`() throws {
        let request = try read(
            #"{"operation": "sign", "resource": {"service": "\ud83d\ude00 \u00e9\"\/\n", "flags": []}}"#
        )
        #expect(request.facts[.service] == .known(["😀 é\"/\n"]))
        #expect(request.facts.flags == .known([]))
    }

    @Test func `a decision is one line of JSON`() {
        var decision = PolicyDecision(outcome: .challenge, because: ["a.b", "a.c"])
        decision.requires = .all([.factor(.passcode), .pam("keychain-otp", within: .minutes(120))])
        decision.redacted = ["comment"]
        decision.wouldDecide = .deny
        #expect(
            decision.json == """
                {"decision": "challenge", "because": ["a.b", "a.c"], "requires": \
                {"all":["passcode",{"pam":"keychain-otp","within":"2h"}]}, \
                "audit": "decision", "redacted": ["comment"], "would": "deny"}
                """)
    }

    @Test func `an attribute of an item may be empty`() throws {
        let line = #"{"operation": "read-secret", "resource": {"service": "", "account": ""}}"#
        let request = try RequestLine.read(line, today: testDay)
        #expect(request.facts[.service] == .known([""]))
        #expect(request.facts[.account] == .known([""]))
        #expect(throws: RequestLine.Mistake.self) {
            try RequestLine.read(
                #"{"operation": "sign", "subject": {"user": ""}}"#, today: testDay)
        }
    }

    @Test func `that one group is unknown can't be said`() throws {
        let line = #"{"operation": "sign", "subject": {"group": ["ops", "unknown!"]}}"#
        #expect(throws: RequestLine.Mistake.self) { try RequestLine.read(line, today: testDay) }
        let all = #"{"operation": "sign", "subject": {"group": "unknown!"}}"#
        #expect(try RequestLine.read(all, today: testDay).facts[.group] == .unknown)
    }
}
