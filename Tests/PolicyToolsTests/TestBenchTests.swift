// SPDX-License-Identifier: Apache-2.0
import KeychainPolicyGenerators
import KeychainPolicyModel
@testable import PolicyLanguage
@testable import PolicyTools
import Testing

/// The quick way to learn what a change does to tests, held against all tests decided anew.
struct TestBenchTests {
    /// A random set, and tests that it passes.
    private struct Sample {
        let policy: PolicySet
        let tests: [PolicyTest]

        init(seed: UInt64) {
            var generator = PolicyGenerator(
                seed: seed, fields: [.user, .unit, .service, .accessGroup])
            policy = generator.policy(rules: 10)
            let evaluator = ReferenceEvaluator(policy)
            var tests: [PolicyTest] = []
            for number in 0..<24 {
                let request = generator.request(for: policy)
                let decision = evaluator.decide(request)
                var expected = PolicyTest.Expected(outcome: decision.outcome)
                if generator.random.chance(40) { expected.because = decision.because }
                if generator.random.chance(30) { expected.requires = .some(decision.requires) }
                if generator.random.chance(20) { expected.audit = decision.audit }
                if generator.random.chance(20) { expected.redacted = decision.redacted }
                if generator.random.chance(30) {
                    expected.wouldDecide = .some(decision.wouldDecide)
                }
                tests.append(
                    PolicyTest(
                        name: "\(number)",
                        origin: PolicyOrigin(file: "t.yaml", line: number, column: 1, level: 0),
                        request: request, expected: expected))
            }
            self.tests = tests
        }

        func fails(_ changed: PolicySet) -> Bool {
            let evaluator = ReferenceEvaluator(changed)
            return tests.contains {
                !$0.expected.differences(evaluator.decide($0.request)).isEmpty
            }
        }
    }

    /// So many changes were noticed, and so many were not.
    private struct Tally {
        var noticed = 0
        var unnoticed = 0

        mutating func note(_ isNoticed: Bool) {
            if isNoticed { noticed += 1 } else { unnoticed += 1 }
        }
    }

    @Test func `a change is noticed where one of all tests fails with it`() {
        var rules = Tally()
        var scopes = Tally()
        var groups = Tally()
        for seed in 0..<150 as Range<UInt64> {
            let sample = Sample(seed: seed)
            var bench = TestBench(sample.policy, sample.tests)
            for (place, rule) in sample.policy.rules.enumerated() {
                for change in rule.mutations {
                    var set = sample.policy
                    set.rules[place...place] = change.value.map { [$0] } ?? []
                    let isNoticed = bench.notices(change.value, at: place)
                    #expect(isNoticed == sample.fails(set), "\(seed) \(rule.id) \(change.words)")
                    rules.note(isNoticed)
                }
            }
            for (place, scope) in sample.policy.closed.enumerated() {
                for change in scope.mutations {
                    var set = sample.policy
                    set.closed[place...place] = change.value.map { [$0] } ?? []
                    let isNoticed = bench.notices(change.value, at: place)
                    #expect(isNoticed == sample.fails(set), "\(seed) \(scope.id) \(change.words)")
                    scopes.note(isNoticed)
                }
            }
            for (place, group) in sample.policy.groups.enumerated() {
                for change in group.mutations {
                    var set = sample.policy
                    set.groups[place...place] = change.value.map { [$0] } ?? []
                    let isNoticed = bench.notices(change.value, at: place)
                    #expect(isNoticed == sample.fails(set), "\(seed) \(group.id) \(change.words)")
                    groups.note(isNoticed)
                }
            }
        }
        for tally in [rules, scopes, groups] {
            #expect(tally.noticed > 20 && tally.unnoticed > 20, "\(tally)")
        }
    }

    @Test func `a part is covered where a case meets all others and not it`() {
        var decisive = Tally()
        for seed in 0..<100 as Range<UInt64> {
            let sample = Sample(seed: seed)
            let evaluator = ReferenceEvaluator(sample.policy)
            let cases = sample.tests.flatMap { evaluator.cases(of: $0.request) }
            var bench = TestBench(sample.policy, sample.tests)
            let members = sample.policy.groups.flatMap { $0.parts.map(\.statement) }
            for statement in sample.policy.statements + members {
                let parts = statement.match.parts.map(\.part)
                let met = cases.map { operation, facts in
                    parts.map { statement.isMet(statement.match.truth($0, operation, facts)) }
                }
                let seen = bench.seen(of: statement)
                #expect(seen.isMet == met.contains { !$0.contains(false) })
                for place in parts.indices.dropLast(statement.hiddenParts) {
                    let isDecisive = met.contains { own in
                        !own[place] && own.count { !$0 } == 1
                    }
                    #expect(seen.decisive[place] == isDecisive, "\(seed) \(statement.id) \(place)")
                    decisive.note(isDecisive)
                }
            }
        }
        #expect(decisive.noticed > 20 && decisive.unnoticed > 20, "\(decisive)")
    }
}
