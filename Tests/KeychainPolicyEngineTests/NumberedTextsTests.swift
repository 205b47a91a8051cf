// SPDX-License-Identifier: Apache-2.0
import KeychainPolicyCompiler
import KeychainModel
import KeychainPolicyGenerators
import Testing

@testable import KeychainPolicyEngine
@testable import KeychainPolicyModel

/// The engine takes an item and a subject whose texts were numbered before, and decides as it does of
/// all facts at once.
@Suite struct NumberedTextsTests {
    /// An item that has some of the texts.
    private func item(_ facts: PolicyFacts) -> PolicyItem {
        func text(_ field: TextField) -> AttributeValue? {
            guard case .known(let texts) = facts[field], let first = texts.first else { return nil }
            return .string(first.string)
        }
        let fields: [AttributeName: TextField] = [
            .service: .service, .account: .account, .label: .itemLabel, .creator: .creator,
            .server: .server,
        ]
        var attributes: Attributes = [:]
        for (name, field) in fields { attributes[name] = text(field) }
        var group = "none"
        if case .known(let texts) = facts[.accessGroup] { group = texts.first?.string ?? group }
        return PolicyItem(
            facts[.itemClass] == .known(ChoiceField.keyClass) ? .key : .genericPassword,
            attributes, accessGroup: group, rights: .plain(.always),
            keychain: "login")
    }

    private func same(
        _ policy: CompiledPolicy, _ request: PolicyRequest, _ numbered: NumberedTexts?
    ) -> Bool {
        let item = item(request.facts)
        var all = request.facts.with(item: item.facts)
        all.constraint = request.facts.constraint
        all.isLetIn = request.facts.isLetIn
        let whole = PolicyRequest(
            request.operation, facts: all, evidence: request.evidence, day: request.day)
        var known = request.facts
        // Unlocks alone have one, and no item.
        known[.protector] = .absent
        item.addChoices(to: &known)
        let admitted = policy.admit(
            request.operation, known, numbered: numbered, of: item, evidence: request.evidence,
            day: request.day)
        return policy.decide(admitted) == policy.decide(policy.admit(whole))
    }

    @Test func `an item and numbered texts are decided like all facts at once`() throws {
        var denied = 0
        for seed in 0..<60 {
            var generator = PolicyGenerator(seed: UInt64(seed), fields: TextField.allCases)
            let set = generator.policy(rules: 24)
            let policy = try CompiledPolicy(set)
            for _ in 0..<16 {
                let request = generator.request(for: set)
                #expect(same(policy, request, nil))
                #expect(same(policy, request, policy.number(request.facts)))
                if policy.decide(policy.admit(request)).outcome == .deny { denied += 1 }
            }
        }
        #expect((100..<860).contains(denied))
    }

    @Test func `numbers of other texts or of another policy count for nothing`() throws {
        let rules = [rule("f", .forbid(""), .all, literal(.exe, "/bin/bad"))]
        let policy = try CompiledPolicy(PolicySet(rules: rules))
        let other = try CompiledPolicy(
            PolicySet(rules: [rule("f", .forbid(""), .all, literal(.exe, "/bin/good"))]))
        let bad = request(.readSecret) { $0[.exe] = .known(["/bin/bad"]) }
        let good = request(.readSecret) { $0[.exe] = .known(["/bin/good"]) }
        #expect(policy.number(bad.facts).hold(for: bad.facts, under: policy))
        #expect(!policy.number(bad.facts).hold(for: good.facts, under: policy))
        #expect(!policy.number(bad.facts).hold(for: bad.facts, under: other))
        func outcome(_ request: PolicyRequest, _ numbered: NumberedTexts) -> PolicyOutcome {
            policy.decide(
                policy.admit(
                    .readSecret, request.facts, numbered: numbered, of: item(request.facts),
                    evidence: [], day: 0)
            ).outcome
        }
        #expect(outcome(bad, policy.number(good.facts)) == .deny)
        #expect(outcome(good, policy.number(bad.facts)) == .allow)
        #expect(outcome(bad, other.number(bad.facts)) == .deny)
    }

    @Test func `a request with more facts than lie in the value is decided like any other`() throws
    {
        let names = (0..<400).map { PolicyText("group-\($0)") }
        let rules = names.enumerated().map { place, name in
            rule(
                PolicyText("r\(place)"), place == 399 ? .forbid("") : .audit(.decision), .all,
                literal(.group, name))
        }
        let set = PolicySet(rules: rules)
        let policy = try CompiledPolicy(set)
        for count in [1, 60, 130, 399, 400] {
            let many = request(
                .readSecret,
                evidence: [
                    PolicyProof(.factor(.passcode), age: .zero, scope: .operation)
                ]
            ) { $0[.group] = .known(Array(names.prefix(count))) }
            let decision = ReferenceEvaluator(set).decide(many)
            #expect(decision.outcome == (count == 400 ? .deny : .allow))
            #expect(Comparison.mismatch(policy, decision, many) == nil)
        }
    }
}
