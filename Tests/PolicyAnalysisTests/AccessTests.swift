// SPDX-License-Identifier: Apache-2.0
import KeychainPolicyGenerators
import KeychainPolicyModel
import PolicyAnalysis
import PolicyRequestSpace
import Testing

@Suite struct `Who can` {
    private let policy = PolicySet(
        rules: [
            rule(
                "git", .permit(""), .read, literal(.exe, "/usr/bin/git"),
                .boolean(.trustedExe, true)),
            rule("ops", .permit(""), .all, literal(.group, "ops")),
            rule("r", passcode, .read, literal(.group, "ops")),
            rule("f", .forbid(""), .all, .boolean(.screenLocked, true)),
        ], closed: [scope("c", literal(.service, "forge"))])

    private func item(_ service: PolicyText) -> PolicyFacts {
        var facts = PolicyFacts()
        facts[.service] = .known([service])
        facts[.itemClass] = .known(0)
        return facts
    }

    @Test func `read an item, and after which proof`() {
        let found = PolicyAnalysis(policy, day: today).who(.readSecret, item: item("forge"))
        #expect(found.isComplete)
        #expect(found.accesses.allSatisfy { $0.decision.outcome != .deny })
        let because = Set(found.accesses.map(\.decision.because))
        // The third: whose groups can't be told needs the proof, and is no operator.
        #expect(because == [["git"], ["ops", "r"], ["git", "r"], ["git", "ops", "r"]])
        for access in found.accesses {
            #expect(access.request.facts[.service] == .known(["forge"]))
            for area in access.areas {
                #expect(area.words.contains("when.screen-locked: false"))
            }
        }
    }

    @Test func `write to it`() {
        let found = PolicyAnalysis(policy, day: today).who(.delete, item: item("forge"))
        #expect(Set(found.accesses.map(\.decision.because)) == [["ops"]])
    }

    @Test func `be told for a subject`() {
        var subject = PolicyFacts()
        subject[.exe] = .known(["/usr/bin/git"])
        subject[.trustedExe] = .known(true)
        subject[.group] = .known(["users"])
        let found = PolicyAnalysis(policy, day: today).can(subject)
        #expect(found.isComplete)
        let forge = found.accesses.filter { $0.request.facts[.service] == .known(["forge"]) }
        #expect(Set(forge.map(\.decision.because)) == [["git"]])
        #expect(found.accesses.allSatisfy { $0.request.facts[.exe] == .known(["/usr/bin/git"]) })
    }

    @Test func `be seen in random sets`() {
        for round in 0..<40 {
            var world = PolicyGenerator(
                seed: 2_500 + UInt64(round), fields: [.exe, .service, .group])
            let policy = world.policy(rules: 7)
            // Some of what is known of an item; the rest may be anything.
            let whole = world.request(for: policy).plain.facts
            var item = PolicyFacts()
            for field in [TextField.service, .accessGroup] where world.random.chance(60) {
                item[field] = whole[field]
            }
            item[.itemClass] = .known(2)
            let found = PolicyAnalysis(policy, day: today, mostCells: 20_000)
                .who(.readSecret, item: item)
            guard found.isComplete else { continue }
            let reference = ReferenceEvaluator(policy)
            for access in found.accesses {
                #expect(reference.decide(access.request) == access.decision)
            }
            let seen = Set(found.accesses.map(\.decision.requires))
            for _ in 0..<40 {
                var request = world.request(for: policy).plain
                request.operation = .readSecret
                for field in [TextField.service, .accessGroup] where item[field] != .absent {
                    request.facts[field] = item[field]
                }
                request.facts[.itemClass] = .known(2)
                guard request.isPossible else { continue }
                let decision = reference.decide(request)
                guard decision.outcome != .deny else { continue }
                #expect(seen.contains(decision.requires))
            }
        }
    }
}
