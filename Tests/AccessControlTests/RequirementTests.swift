// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import Testing

@testable import AccessControl

private func anyOf(_ members: Constraint...) -> Constraint { .atLeast(required: 1, of: members) }
private func allOf(_ members: Constraint...) -> Constraint {
    .atLeast(required: members.count, of: members)
}

@Suite struct RequirementTests {
    @Test(arguments: [
        (allOf(.userPresence), Constraint.userPresence),
        (anyOf(.devicePasscode), .devicePasscode),
        (allOf(.userPresence, .userPresence), .userPresence),
        (allOf(.devicePasscode, .userPresence), allOf(.userPresence, .devicePasscode)),
        (
            allOf(.userPresence, allOf(.devicePasscode, .companion)),
            allOf(.userPresence, .devicePasscode, .companion)
        ),
        (anyOf(.userPresence, .always), .always),
        (allOf(.userPresence, .never), .never),
        (anyOf(.never, .companion), .companion),
        (allOf(), .always),
        (.atLeast(required: 3, of: [.userPresence, .companion]), .never),
    ])
    func `the same needs read the same`(_ given: Constraint, _ canonical: Constraint) {
        #expect(Requirement(given).constraint == canonical)
        #expect(Requirement(canonical).constraint == canonical)
    }

    @Test(arguments: [
        (Constraint.always, [Factor]()),
        (.userPresence, [.presence]),
        (.devicePasscode, [.passcode]),
        (anyOf(.devicePasscode, .biometryAny), [.passcode]),
        (allOf(.userPresence, .devicePasscode), [.passcode]),
        (anyOf(.userPresence, .devicePasscode), [.presence]),
    ])
    func `the cheapest proof is asked for`(_ constraint: Constraint, _ proof: [Factor]) {
        #expect(Requirement(constraint).cheapestProof() == proof)
    }

    @Test(arguments: [
        Constraint.never, .biometryAny, allOf(.devicePasscode, .biometryAny),
        .atLeast(required: 2, of: [.biometryAny, .companion, .devicePasscode]),
    ])
    func `where no proof is enough there is none`(_ constraint: Constraint) {
        #expect(Requirement(constraint).cheapestProof() == nil)
    }

    @Test func `many items need one question`() {
        let together = Requirement.all([
            Requirement(.userPresence), Requirement(.userPresence), Requirement(.devicePasscode),
        ])
        #expect(together.constraint == allOf(.userPresence, .devicePasscode))
        #expect(together.cheapestProof() == [.passcode])
    }

    @Test func `less evidence never helps`() {
        let atoms: [Constraint] = [
            .always, .never, .userPresence, .devicePasscode, .biometryAny, .companion,
        ]
        let sets: [Evidence] = [
            Evidence(), Evidence([.presence]), Evidence([.passcode]),
            Evidence([.presence, .passcode]),
        ]
        for a in atoms {
            for b in atoms {
                for constraint in [anyOf(a, b), allOf(a, b), anyOf(a, allOf(a, b))] {
                    for (i, less) in sets.enumerated() {
                        for more in sets[i...] where less.factors.isSubset(of: more.factors) {
                            #expect(!less.meets(constraint) || more.meets(constraint))
                        }
                        let canonical = Requirement(constraint).constraint
                        #expect(less.meets(canonical) == less.meets(constraint))
                    }
                }
            }
        }
    }
}
