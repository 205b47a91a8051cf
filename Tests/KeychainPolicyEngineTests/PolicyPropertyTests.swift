// SPDX-License-Identifier: Apache-2.0
import KeychainPolicyCompiler
import KeychainPolicyEngine
import KeychainPolicyGenerators
import KeychainPolicyModel
import Testing

extension PolicyOutcome {
    /// How much it lets happen.
    fileprivate var permissiveness: Int {
        switch self {
        case .deny: 0
        case .interactionNotAllowed: 1
        case .challenge: 2
        case .allow: 3
        }
    }
}

extension PolicyFacts {
    /// What the decision itself asks for stays: membership, the item, whether a user could answer.
    fileprivate mutating func forgetAll(but asked: AskedFacts, unknown: Bool) {
        for field in TextField.allCases where field.block != .resource && !asked.contains(field) {
            self[field] = unknown ? .unknown : .absent
        }
        for field in BooleanField.allCases
        where field != .member && field != .interactive && !asked.contains(field) {
            self[field] = unknown ? .unknown : .absent
        }
        for field in AgeField.allCases where !asked.contains(field) {
            self[field] = unknown ? .unknown : .absent
        }
        if !asked.contains(ChoiceField.session) {
            self[ChoiceField.session] = unknown ? .unknown : .absent
        }
        if !asked.containsTime { time = unknown ? .unknown : .absent }
    }
}

/// The properties that the definition promises, under random policies.
@Suite struct `Every policy` {
    /// Calls the body with random policies and requests for each.
    private func forAll(
        seed: UInt64, policies: Int = 150,
        _ body: (inout PolicyGenerator, PolicySet, PolicyRequest) throws -> Void
    ) rethrows {
        for round in 0..<policies {
            var world = PolicyGenerator(seed: seed + UInt64(round))
            let policy = world.policy(rules: 10)
            for _ in 0..<8 {
                let request = world.request(for: policy)
                try body(&world, policy, request)
            }
        }
    }

    @Test func `only tightens, but for shares and groups`() {
        forAll(seed: 10_000) { _, policy, request in
            var policy = policy
            policy.groups = []
            policy.rules.removeAll { if case .share = $0.effect { true } else { false } }
            let own = ReferenceEvaluator(PolicySet()).decide(request).outcome
            let found = ReferenceEvaluator(policy).decide(request).outcome
            #expect(found.permissiveness <= own.permissiveness)
        }
    }

    @Test func `shares nothing with a member`() {
        forAll(seed: 20_000) { _, policy, request in
            var request = request
            request.facts[.member] = .known(true)
            request.before?[.member] = .known(true)
            var without = policy
            without.rules.removeAll { if case .share = $0.effect { true } else { false } }
            let found = ReferenceEvaluator(policy).decide(request)
            #expect(found == ReferenceEvaluator(without).decide(request))
        }
    }

    @Test func `decides without what it says it does not ask for`() throws {
        try forAll(seed: 25_000, policies: 400) { world, policy, request in
            let compiled = try CompiledPolicy(policy)
            var blind = request
            blind.facts.forgetAll(but: compiled.asked, unknown: world.random.chance(50))
            #expect(compiled.decision(on: blind) == compiled.decision(on: request))
            blind = request
            blind.facts.forgetAll(but: compiled.asked, unknown: false)
            #expect(blind.facts.completed(by: request.facts) == request.facts)
        }
    }

    @Test func `decides the same in any order`() throws {
        try forAll(seed: 30_000) { world, policy, request in
            var shuffled = policy
            shuffled.rules.shuffle(using: &world.random)
            shuffled.closed.shuffle(using: &world.random)
            let expected = ReferenceEvaluator(policy).decide(request)
            #expect(ReferenceEvaluator(shuffled).decide(request) == expected)
            let difference = try Comparison.mismatch(CompiledPolicy(shuffled), expected, request)
            #expect(difference == nil)
        }
    }

    @Test func `gives nothing for hiding a fact`() {
        forAll(seed: 40_000) { world, policy, request in
            var hidden = request
            hide(&hidden.facts, &world.random)
            let seen = ReferenceEvaluator(policy).decide(request).outcome
            let found = ReferenceEvaluator(policy).decide(hidden).outcome
            #expect(found.permissiveness <= seen.permissiveness)
        }
    }

    @Test func `gives nothing for less evidence`() {
        forAll(seed: 50_000) { _, policy, request in
            let full = ReferenceEvaluator(policy).decide(request).outcome
            for place in request.evidence.indices {
                var less = request
                less.evidence.remove(at: place)
                let found = ReferenceEvaluator(policy).decide(less).outcome
                #expect(found.permissiveness <= full.permissiveness)
            }
        }
    }

    private func hide(_ facts: inout PolicyFacts, _ random: inout SplitMix) {
        switch random.below(6) {
        case 0: facts.uid = .unknown
        case 1: facts.flags = .unknown
        case 2: facts[random.pick(ChoiceField.allCases)] = .unknown
        case 3: facts[random.pick(BooleanField.allCases)] = .unknown
        default: facts[random.pick(TextField.allCases)] = .unknown
        }
    }
}
