// SPDX-License-Identifier: Apache-2.0
import KeychainPolicyGenerators
import KeychainPolicyModel
import PolicyAnalysis
import Testing

@Suite struct `An assertion` {
    private func proof(_ policy: PolicySet, _ assertion: PolicyAssertion) -> PolicyAnalysis.Proof {
        PolicyAnalysis(policy, day: today).proof(of: assertion)
    }

    @Test func `is proved where a forbid covers it`() {
        let policy = PolicySet(rules: [
            rule("f", .forbid(""), [PolicyOperations(.export), .read], literal(.keychain, "ci"))
        ])
        let exports = never(PolicyOperations(.export), literal(.keychain, "ci"))
        #expect(proof(policy, exports) == .proved)
    }

    @Test func `is refuted with a request that is let through`() throws {
        let ops = PolicyBox([literal(.group, "ops")])
        let policy = PolicySet(rules: [
            rule("f", .forbid(""), .all, literal(.keychain, "ci"), unless: [ops]),
            rule("r", passcode),
        ])
        guard case .refuted(let witness) = proof(policy, never(.read, literal(.keychain, "ci")))
        else {
            Issue.record("not refuted")
            return
        }
        #expect(witness.request.facts[.group] == .known(["ops"]))
        #expect(witness.request.facts[.keychain] == .known(["ci"]))
        #expect(witness.decision.outcome == .challenge)
    }

    @Test func `is proved by forbids that cover it together`() {
        let policy = PolicySet(rules: [
            rule("a", .forbid(""), .all, .boolean(.remote, true)),
            rule("b", .forbid(""), .all, .boolean(.remote, false), .uid([0...999])),
            rule("c", .forbid(""), .all, .uid([1_000...UInt32.max])),
        ])
        #expect(proof(policy, never(.write, .uid([0...UInt32.max]))) == .proved)
        #expect(proof(policy, never(.write)) != .proved)
    }

    @Test func `sees closed scopes, permits, shares and the export of keys`() {
        var policy = PolicySet(
            rules: [rule("p", .permit(""), PolicyOperations(.readSecret), literal(.unit, "u"))],
            closed: [scope("c", literal(.keychain, "ci"))])
        let ci = literal(.keychain, "ci")
        #expect(proof(policy, never(.write, ci)) == .proved)
        #expect(proof(policy, never(PolicyOperations(.readSecret), ci)) != .proved)
        let key = PolicyCondition.choice(.itemClass, mask: 1 << ChoiceField.keyClass)
        #expect(proof(policy, never(PolicyOperations(.readSecret), ci, key)) == .proved)
        let strangers = never(.all, .boolean(.member, false))
        #expect(proof(PolicySet(), strangers) == .proved)
        policy.rules.append(rule("s", .share(""), .read, literal(.exe, "/x")))
        #expect(proof(policy, strangers) != .proved)
    }

    @Test func `is not decided where many before it took the budget`() {
        let policy = PolicySet(
            rules: (0..<300).map { number in
                let group = PolicyText("g\(number)")
                return rule(PolicyText("r\(number)"), .forbid(""), .all, literal(.group, group))
            })
        let claims = (0..<300).map { _ in never(.read, .boolean(.remote, true)) }
        let proofs = PolicyAnalysis(policy, day: today, mostCells: 2_000).proofs(of: claims)
        #expect(proofs.count == 300)
        #expect(proofs.last == .notDecided)
    }

    @Test func `is decided as sampling shows`() {
        var proved = 0
        var undecided = 0
        for round in 0..<120 {
            var world = PolicyGenerator(
                seed: 500 + UInt64(round), fields: [.exe, .service, .group])
            let policy = world.policy(rules: 8)
            let box = world.policy(rules: 6).rules.first?.match.box ?? PolicyBox()
            let assertion = PolicyAssertion(
                id: "n", origin: PolicyOrigin(file: "", line: 1, column: 1, level: 0), never: box)
            let reference = ReferenceEvaluator(policy)
            switch PolicyAnalysis(policy, day: today, mostCells: 20_000).proof(of: assertion) {
            case .notDecided: undecided += 1
            case .refuted(let witness):
                let request = witness.request
                #expect(box.truth(for: request.operation, request.facts) == .yes)
                #expect(reference.decide(request).outcome != .deny)
            case .proved:
                proved += 1
                for _ in 0..<60 {
                    let request = world.possibleRequest(for: policy)
                    guard box.truth(for: request.operation, request.facts) == .yes else { continue }
                    // Members of groups are told by the set, not by the box.
                    guard box.conditions.allSatisfy({ $0.fieldName != "subject.member" }) else {
                        continue
                    }
                    #expect(reference.decide(request).outcome == .deny)
                }
            }
        }
        #expect(proved > 5)
        #expect(undecided < 10)
    }
}
