// SPDX-License-Identifier: Apache-2.0
import KeychainPolicyGenerators
import KeychainPolicyModel
import PolicyAnalysis
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
                "a": .matchesOnlyTheUnknown, "b": .neverMatches, "c": .permitsWhatIsOpen,
            ])
    }

    @Test func `leave a rule be that decides where a fact is unknown`() {
        let scopes = [scope("s")]
        let permits = PolicySet(
            rules: [
                rule("a", .permit(""), .all, .boolean(.remote, true)),
                rule("b", .permit(""), .all, .boolean(.remote, false)),
                rule("c", .permit(""), .all),
            ], closed: scopes)
        // Where it is unknown, the first two permit nothing.
        #expect(findings(permits)["c"] == nil)
        #expect(findings(permits)["b"]?.by == ["c"])
        let forbids = PolicySet(rules: [
            rule("a", .forbid(""), .all, .boolean(.tty, true)),
            rule("b", .forbid(""), .all, .boolean(.tty, false), .boolean(.active, true)),
            rule("c", .forbid(""), .all, .boolean(.tty, false), .boolean(.active, false)),
            rule("d", .forbid(""), .all, literal(.user, "u")),
        ])
        // Each of them refuses where nothing is known, and all that is known is refused by one.
        #expect(findings(forbids).mapValues(\.kind) == ["d": .shadowed])
    }

    @Test func `know whom groups take in`() {
        let stranger = PolicyCondition.boolean(.member, false)
        let policy = PolicySet(
            rules: [rule("a", .forbid(""), .all, literal(.accessGroup, "g"), stranger)],
            groups: [
                GroupMembership(
                    id: "g", origin: PolicyOrigin(file: "", line: 1, column: 1, level: 0),
                    group: "g", members: [[]], operations: .all)
            ])
        #expect(findings(policy)["a"]?.kind == .matchesOnlyTheUnknown)
    }

    @Test func `of thousands of rules alike name each but the first`() {
        let alike = (0..<4_000).map { rule(PolicyText("r\($0)"), .forbid(""), .write) }
        let found = findings(PolicySet(rules: alike))
        #expect(found.count == 3_999)
        #expect(found.values.allSatisfy { $0.kind == .shadowed && $0.by == ["r0"] })
    }

    @Test func `are made of thousands of groups and rules on who is in them`() {
        let place = PolicyOrigin(file: "", line: 1, column: 1, level: 0)
        let groups = (0..<2_000).map { number in
            GroupMembership(
                id: PolicyText("g\(number)"), origin: place, group: PolicyText("g\(number)"),
                members: [[literal(.unit, PolicyText("u\(number).service"))]], operations: .all)
        }
        let rules = (0..<2_000).map { number in
            rule(
                PolicyText("r\(number)"), .forbid(""), .write,
                literal(.accessGroup, PolicyText("g\(number)")), .boolean(.member, true))
        }
        #expect(findings(PolicySet(rules: rules, groups: groups)).isEmpty)
        let units = (0..<2_000).map { number in
            rule(
                PolicyText("r\(number)"), .forbid(""), .write,
                literal(.unit, PolicyText("u\(number).service")), .boolean(.member, true))
        }
        #expect(findings(PolicySet(rules: units, groups: groups)).isEmpty)
    }

    @Test func `are not decided where too many rules meet everywhere`() {
        let rules = (0..<4_000).map { number in
            let demand = PolicyDemand(.pam(PolicyText("keychain-\(number)"), within: nil))
            return rule(PolicyText("r\(number)"), .require(demand), .write)
        }
        let found = findings(PolicySet(rules: rules))
        #expect(found.values.contains { $0.kind == .notDecided })
        #expect(found.values.allSatisfy { $0.kind == .notDecided })
    }

    @Test func `name rules that could go without a decision changing`() {
        var removed = 0
        for round in 0..<80 {
            var world = PolicyGenerator(seed: 1_500 + UInt64(round), fields: [.exe, .service])
            var policy = world.policy(rules: 10)
            for place in policy.rules.indices { policy.rules[place].id = PolicyText("r\(place)") }
            for finding in PolicyAnalysis(policy, day: today).findings() {
                guard finding.kind != .notDecided, finding.kind != .matchesOnlyTheUnknown
                else { continue }
                removed += 1
                var without = policy
                without.rules.removeAll { $0.id == finding.id }
                for _ in 0..<30 {
                    let request = world.possibleRequest(for: policy)
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
