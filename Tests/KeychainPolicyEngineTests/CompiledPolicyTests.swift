// SPDX-License-Identifier: Apache-2.0
import KeychainPolicyGenerators
import Testing

@testable import KeychainPolicyCompiler
@testable import KeychainPolicyEngine
@testable import KeychainPolicyModel

@Suite struct `Compiled policy` {
    @Test func `decides as the reference does under random policies`() throws {
        try Comparison.run(decisions: 20_000, seed: 1)
    }

    /// Policies that differ in what can't matter, with the same decisions.
    @Test func `decides the same after changes that change nothing`() throws {
        for round in 0..<60 {
            var world = PolicyGenerator(seed: 60_000 + UInt64(round))
            let policy = world.policy(rules: 24)
            let changed = try [splitted(policy), withDeadRules(policy), withIdleExceptions(policy)]
                .map { try CompiledPolicy($0) }
            for _ in 0..<16 {
                let request = world.request(for: policy)
                let expected = ReferenceEvaluator(policy).decide(request)
                for compiled in changed {
                    #expect(compiled.decision(on: request) == expected)
                }
            }
        }
    }

    /// Each rule once for each of its operations.
    private func splitted(_ policy: PolicySet) -> PolicySet {
        var policy = policy
        policy.rules = policy.rules.flatMap { rule in
            PolicyOperation.allCases.filter(rule.match.box.operations.contains).map { operation in
                var part = rule
                part.match.box.operations = PolicyOperations(operation)
                return part
            }
        }
        return policy
    }

    private func withDeadRules(_ policy: PolicySet) -> PolicySet {
        var policy = policy
        policy.rules.append(rule("dead", .forbid(""), []))
        policy.rules.append(
            rule("dead2", .forbid(""), .all, .choice(.session, mask: 1), unless: [PolicyBox()]))
        return policy
    }

    private func withIdleExceptions(_ policy: PolicySet) -> PolicySet {
        var policy = policy
        for place in policy.rules.indices {
            policy.rules[place].match.exceptions.append(PolicyBox(operations: []))
        }
        return policy
    }

    @Test func `denies a request that another policy numbered`() throws {
        let one = try CompiledPolicy(PolicySet(rules: [rule("a", .audit(.full))]))
        let other = try CompiledPolicy(PolicySet())
        #expect(other.decide(one.admit(request(.sign))).outcome == .deny)
        #expect(one.decide(one.admit(request(.sign))).outcome == .allow)
    }

    @Test func `tells where a rule stands and why it is there`() throws {
        let compiled = try CompiledPolicy(PolicySet(rules: [rule("f", .forbid("Not here."))]))
        let ruling = compiled.decide(compiled.admit(request(.sign)))
        let provenance = try #require(ruling.lead.flatMap(compiled.provenance))
        #expect(provenance.id == "f")
        #expect(provenance.reason == "Not here.")
        #expect(
            provenance.origin == PolicyOrigin(file: "10-test.yaml", line: 7, column: 5, level: 0))
        #expect(compiled.provenance(of: 1) == nil)
        #expect(compiled.provenance(of: -1) == nil)
    }

    @Test func `knows whether a request that shows no question is counted`() throws {
        let limit = PolicyEffect.limit(PolicyLimit(1, per: .hours(1), by: [], then: .deny))
        let prompted = PolicyCondition.boolean(.prompted, true)
        let ofQuestions = [
            rule("a", limit, .all, prompted), rule("b", limit, .write, prompted, .uid([0...9])),
            rule("c", .audit(.full)),
        ]
        let others = [
            rule("d", limit), rule("e", limit, .all, .boolean(.prompted, false)),
            rule("f", limit, .all, .uid([0...9]), unless: [PolicyBox([prompted])]),
        ]
        let counted = try CompiledPolicy(PolicySet(rules: ofQuestions))
        #expect(counted.hasLimits && !counted.countsUnprompted)
        for other in others {
            #expect(try CompiledPolicy(PolicySet(rules: ofQuestions + [other])).countsUnprompted)
        }
        #expect(try !CompiledPolicy(PolicySet()).countsUnprompted)
    }

    @Test func `says how many candidates a request can meet`() throws {
        for round in 0..<40 {
            var world = PolicyGenerator(
                seed: 70_000 + UInt64(round), fields: [.exe, .service, .group])
            let policy = world.policy(rules: 200)
            let compiled = try CompiledPolicy(policy)
            for _ in 0..<8 {
                let admitted = compiled.admit(world.request(for: policy))
                guard admitted.facts.unknown == 0 else { continue }
                #expect(candidates(compiled, admitted) <= compiled.mostCandidates)
            }
        }
    }

    private func candidates(_ compiled: CompiledPolicy, _ request: AdmittedRequest) -> Int {
        final class Count { var value = 0 }
        struct Counter: CandidateSink {
            let count = Count()
            func wants(_ head: EntryHead) -> Bool {
                count.value += 1
                return false
            }
            func take(
                _ head: EntryHead, _ view: CaseView, _ words: Span<UInt32>, _ facts: Span<UInt32>
            ) {}
        }
        var counter = Counter()
        let words = compiled.image.words.span
        // The generator's requests are small.
        let numbers = request.facts.words.inline.span
        let view = compiled.view(
            request.facts, request.operation, words, numbers)
        for purpose in IndexPurpose.allCases where purpose != .limit {
            guard let root = compiled.image.root(purpose) else { continue }
            compiled.traversal.visit(node: root, view, words, numbers, &counter)
        }
        return counter.count.value
    }

    @Test func `keeps filing under long lists in bounds`() throws {
        let many = (0..<400).map { TextPattern.literal(PolicyText("v\($0)")) }
        let rules = (0..<30).map { number in
            rule(
                PolicyText("r\(number)"), .forbid(""), .all, .text(.exe, many),
                .text(.service, many))
        }
        let compiled = try CompiledPolicy(PolicySet(rules: rules))
        #expect(compiled.image.count(.entries) <= 30 * 400)
    }

    @Test func `numbers its dimensions without a gap`() {
        let texts = TextField.allCases.map(Dimension.of)
        let numbers = NumberDimension.allCases.prefix(2).map(\.dimension)
        let rest =
            ChoiceField.allCases.map(Dimension.of) + BooleanField.allCases.map(Dimension.of)
            + AgeField.allCases.map(Dimension.of)
        let all = texts + numbers + [Dimension.operation] + rest + [Dimension.date]
        #expect(all == Array(0..<Dimension.count))
    }

    @Test func `refuses sets that it can't hold`() {
        let names = (0..<65).map { PolicyText("n\($0)") }
        #expect(throws: PolicyCompilationError.tooManyRedactedAttributes(limit: 64)) {
            try CompiledPolicy(PolicySet(rules: [rule("r", .redact(names))]))
        }
        var deep = PolicyConstraint.factor(.passcode)
        for _ in 0..<16 { deep = .any([deep]) }
        #expect(throws: PolicyCompilationError.requirementTooDeep(limit: 16)) {
            try CompiledPolicy(PolicySet(rules: [rule("r", .require(PolicyDemand(deep)))]))
        }
    }
}
