// SPDX-License-Identifier: Apache-2.0
import AccessControl
import PolicyCompiler
import PolicyWorlds
import Testing

@Suite struct `Findings of analysis` {
    private func findings(_ policy: PolicySet) -> [PolicyText: RuleFinding] {
        let found = PolicyAnalysis(policy, day: today).findings()
        return Dictionary(found.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
    }

    @Test func `are nothing for rules that all decide`() {
        let policy = PolicySet(
            rules: [
                rule("a", .forbid(""), .all, literal(.exe, "x")),
                rule("b", .permit(""), .all, literal(.exe, "y")),
                rule("c", passcode, .all, literal(.exe, "x", "y")),
            ], closed: [scope("s", literal(.keychain, "k"))])
        #expect(findings(policy).isEmpty)
    }

    @Test func `tell a dead rule and what kills it`() {
        let policy = PolicySet(rules: [
            rule("a", .forbid(""), .all, .boolean(.remote, true)),
            rule("b", .forbid(""), .all, .boolean(.remote, false), .text(.exe, [.prefix("/usr/")])),
            rule("c", passcode, .read, literal(.exe, "/usr/bin/git")),
        ])
        #expect(findings(policy).mapValues(\.kind) == ["c": .dead])
        #expect(findings(policy)["c"]?.by == ["a", "b"])
    }

    @Test func `tell a shadowed rule, and the later of two alike`() {
        let late = PolicyEffect.require(
            PolicyDemand(.factor(.passcode), within: .minutes(5), scope: .session))
        let policy = PolicySet(rules: [
            rule("a", passcode, .all, literal(.exe, "x", "y")),
            rule("b", late, .read, literal(.exe, "x")),
            rule("c", late, .all, literal(.exe, "x", "z")),
            rule("d", .forbid(""), .write, literal(.user, "u")),
            rule("e", .forbid(""), .write, literal(.user, "u")),
        ])
        #expect(findings(policy).mapValues(\.kind) == ["b": .shadowed, "e": .shadowed])
        #expect(findings(policy)["e"]?.by == ["d"])
    }

    @Test func `tell what can never match and what permits the open`() {
        let policy = PolicySet(
            rules: [
                rule("a", .forbid(""), .all, literal(.exe, "x"), literal(.exe, "y")),
                rule("b", .forbid(""), .write, unless: [PolicyBox(operations: .write, [])]),
                rule("c", .permit(""), .all, literal(.keychain, "other")),
            ], closed: [scope("s", literal(.keychain, "k"))])
        #expect(
            findings(policy).mapValues(\.kind) == [
                "a": .neverMatches, "b": .neverMatches, "c": .permitsWhatIsOpen,
            ])
    }

    @Test func `name rules that could go without a decision changing`() {
        var removed = 0
        for round in 0..<80 {
            var world = PolicyWorld(seed: 1_500 + UInt64(round), fields: [.exe, .service])
            var policy = world.policy(rules: 10)
            for place in policy.rules.indices { policy.rules[place].id = PolicyText("r\(place)") }
            for finding in PolicyAnalysis(policy, day: today).findings() {
                guard finding.kind != .notDecided else { continue }
                removed += 1
                var without = policy
                without.rules.removeAll { $0.id == finding.id }
                for _ in 0..<30 {
                    let request = world.request(for: policy).plain
                    let was = ReferenceEvaluator(policy).decide(request)
                    let now = ReferenceEvaluator(without).decide(request)
                    #expect(was.outcome == now.outcome)
                    #expect(was.requires == now.requires)
                    #expect(was.audit == now.audit)
                    // What a refusal would leave out is nothing.
                    #expect(was.outcome == .deny || was.redacted == now.redacted)
                }
            }
        }
        #expect(removed > 20)
    }

    @Test func `show where a permit meets a forbid`() throws {
        let policy = PolicySet(rules: [
            rule("f", .forbid(""), .all, .boolean(.remote, true)),
            rule("p", .permit(""), .read, literal(.exe, "x")),
            rule("q", .permit(""), .read, .boolean(.remote, false)),
        ])
        let analysis = PolicyAnalysis(policy, day: today)
        let conflicts = try #require(analysis.conflicts(of: "f"))
        #expect(conflicts.map(\.permit) == ["p"])
        let request = try #require(conflicts.first?.request)
        #expect(ReferenceEvaluator(policy).decide(request).because == ["f"])
        #expect(analysis.conflicts(of: "q") == [])
    }
}
