// SPDX-License-Identifier: Apache-2.0
import KeychainPolicyGenerators
import KeychainPolicyModel
import PolicyTools
import Testing

@Suite struct `A replay` {
    private func request(_ change: (inout PolicyFacts) -> Void) -> PolicyRequest {
        var facts = PolicyFacts()
        change(&facts)
        return PolicyRequest(.readSecret, facts: facts, day: today)
    }

    @Test func `is certain where no name is asked for`() {
        let replay = PolicyReplay(
            PolicySet(rules: [rule("f", .forbid(""), .all, .boolean(.remote, true))]))
        let near = request { $0[.service] = .unknown }
        let far = request { $0[.remote] = .known(true) }
        let untold = request { $0[.remote] = .unknown }
        #expect(replay.verdict(on: near, was: .allow, nil).verdict == .same)
        #expect(replay.verdict(on: far, was: .allow, nil).verdict == .otherwise)
        // That it could not be established was so then too.
        #expect(replay.verdict(on: untold, was: .deny, nil).verdict == .same)
    }

    @Test func `says where it hangs on a name that was kept back`() {
        let bank = rule("f", .forbid(""), .all, literal(.service, "bank"))
        let scopes = [scope("s")]
        let opening = rule("p", .permit(""), .all, literal(.service, "mail"))
        let some = request { $0[.service] = .unknown }
        let verdict = { (policy: PolicySet) in
            PolicyReplay(policy).verdict(on: some, was: .allow, nil).verdict
        }
        #expect(verdict(PolicySet(rules: [bank])) == .perhaps)
        #expect(verdict(PolicySet(rules: [opening], closed: scopes)) == .perhaps)
        #expect(verdict(PolicySet(rules: [bank, rule("g", .forbid(""))])) == .otherwise)
        #expect(verdict(PolicySet(rules: [opening])) == .same)
    }

    @Test func `tells other proofs apart`() {
        let replay = PolicyReplay(PolicySet(rules: [rule("r", passcode)]))
        let some = request { _ in }
        #expect(replay.verdict(on: some, was: .challenge, "\"passcode\"").verdict == .same)
        #expect(
            replay.verdict(on: some, was: .interactionNotAllowed, "\"passcode\"").verdict == .same)
        #expect(replay.verdict(on: some, was: .challenge, "\"companion\"").verdict == .otherwise)
    }

    @Test func `reads requests as they were written`() throws {
        var world = PolicyGenerator(seed: 77)
        for _ in 0..<300 {
            let policy = world.policy(rules: 6)
            var request = world.request(for: policy)
            // Ages are written as durations, and of several proofs by one method the freshest.
            request.evidence = []
            request.before = nil
            // Of these the forms are fixed.
            for field in [TextField.digest, .app, .label] { request.facts[field] = .absent }
            if request.facts.flags == .known([]) { request.facts.flags = .absent }
            let read = try RequestLine.read(request.json, today: today)
            let evaluator = ReferenceEvaluator(policy)
            #expect(evaluator.decide(read) == evaluator.decide(request), "\(request.json)")
        }
    }
}

@Suite struct `A suggestion` {
    private func refused(_ change: (inout PolicyFacts) -> Void) -> PolicyRequest {
        var facts = PolicyFacts()
        facts[.keychain] = .known(["ci"])
        facts[.itemClass] = .known(0)
        change(&facts)
        return PolicyRequest(.readSecret, facts: facts, day: today)
    }
    private let closed = PolicySet(closed: [scope("s", literal(.keychain, "ci"))])

    private func text(_ requests: [PolicyRequest], _ policy: PolicySet) -> String {
        PolicySuggestion(requests, under: policy, day: today).text
    }

    @Test func `names the strongest that is known of the program`() {
        let asked = refused { facts in
            facts[.user] = .known(["ann"])
            facts[.exe] = .known(["/usr/bin/x"])
            facts[.unit] = .known(["x.service"])
        }
        let found = text([asked, asked], closed)
        #expect(found.contains("subject: {unit: \"x.service\"}"))
        #expect(found.contains("# opens: "))
        #expect(!found.contains("weak"))
        #expect(!found.contains("suggested.2"))
    }

    @Test func `is of no other lines, whatever the items are called`() {
        let asked = refused { facts in
            facts[.unit] = .known(["x.service"])
            facts[.service] = .known(["a\n  - id: evil"])
        }
        let lines = text([asked], closed).split(whereSeparator: \.isNewline)
        #expect(lines.contains { $0.contains("# opens: ") && $0.contains("evil") })
        #expect(!lines.contains { $0.hasPrefix("  - id: evil") })
    }

    @Test func `is none for a name that a rule would take for a pattern`() {
        let forbid = PolicySet(rules: [rule("f", .forbid(""))])
        for field in [TextField.exe, .user, .service, .schema] {
            let asked = refused { facts in
                facts[.user] = .known(["ann"])
                facts[.exe] = .known(["/home/ann/x"])
                facts[field] = .known(["/home/ann/*"])
            }
            for policy in [closed, forbid] {
                let found = text([asked], policy)
                #expect(!found.contains("rules:") && !found.contains("subject:"), "\(found)")
            }
        }
    }

    @Test func `warns of what can be forged and of what is not told`() {
        let asked = refused { facts in
            facts[.user] = .known(["ann"])
            facts[.exe] = .known(["/home/ann/x"])
            facts[.service] = .unknown
        }
        let found = text([asked], closed)
        #expect(found.contains("# weak"))
        #expect(found.contains("# wide"))
    }

    @Test func `is none against a forbid, for the unidentified and for what is allowed`() {
        let forbid = PolicySet(rules: [rule("f", .forbid(""))])
        let ann = refused { facts in
            facts[.user] = .known(["ann"])
            facts[.exe] = .known(["/usr/bin/x"])
        }
        #expect(text([ann], forbid).contains("Nothing overrules f."))
        #expect(!text([ann], forbid).contains("rules:"))
        #expect(!text([refused { _ in }], closed).contains("rules:"))
        #expect(text([ann], PolicySet()).isEmpty)
    }
}
