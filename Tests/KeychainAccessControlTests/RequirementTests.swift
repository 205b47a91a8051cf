// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import Testing

@testable import KeychainAccessControl
@testable import KeychainPolicyModel

private func anyOf(_ members: Constraint...) -> Constraint { .atLeast(required: 1, of: members) }
private func allOf(_ members: Constraint...) -> Constraint {
    .atLeast(required: members.count, of: members)
}

private let everything: Set<PolicyMethod> = [
    .factor(.presence), .factor(.passcode), .factor(.biometry), .factor(.companion),
    .pam("keychain-otp"),
]
private let passwordOnly: Set<PolicyMethod> = [.factor(.presence), .factor(.passcode)]

@Suite struct ConstraintTests {
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
        #expect(given.canonical == canonical)
        #expect(canonical.canonical == canonical)
    }
}

@Suite struct RequirementTests {
    @Test(arguments: [
        (PolicyConstraint.all([]), [PolicyMethod]()),
        (.factor(.presence), [.factor(.presence)]),
        (.factor(.passcode), [.factor(.passcode)]),
        (.any([.factor(.passcode), .factor(.biometry)]), [.factor(.biometry)]),
        (.all([.factor(.presence), .factor(.passcode)]), [.factor(.passcode)]),
        (.any([.factor(.presence), .factor(.passcode)]), [.factor(.presence)]),
        (
            .all([.pam("keychain-otp", within: nil), .factor(.passcode)]),
            [.factor(.passcode), .pam("keychain-otp")]
        ),
        (
            .atLeast(2, of: [.factor(.biometry), .factor(.companion), .factor(.passcode)]),
            [.factor(.biometry), .factor(.companion)]
        ),
    ])
    func `the least troublesome proof is asked for`(
        _ constraint: PolicyConstraint, _ proof: [PolicyMethod]
    ) {
        #expect(Requirement(constraint).cheapestProof(available: everything) == proof)
    }

    @Test(arguments: [
        PolicyConstraint.factor(.biometry), .all([.factor(.passcode), .factor(.biometry)]),
        .factor(.confirm), .pam("keychain-otp", within: nil),
        .atLeast(2, of: [.factor(.biometry), .factor(.companion), .factor(.passcode)]),
    ])
    func `where no proof is enough there is none`(_ constraint: PolicyConstraint) {
        #expect(Requirement(constraint).cheapestProof(available: passwordOnly) == nil)
        #expect(Requirement(constraint).cheapestProof(available: []) == nil)
    }

    @Test func `what was proven before is not asked for again`() {
        let both = Requirement(.all([.factor(.biometry), .factor(.passcode)]))
        #expect(
            both.cheapestProof(given: proven(.passcode), available: everything)
                == [.factor(.biometry)])
        #expect(both.cheapestProof(given: proven(.passcode, .biometry), available: []) == [])
    }

    @Test func `many items need one question`() {
        let together = Requirement.all([
            Requirement(.factor(.presence)), Requirement(.factor(.presence)),
            Requirement(.factor(.passcode)),
        ])
        #expect(together.constraint == .all([.factor(.passcode), .factor(.presence)]))
        #expect(together.cheapestProof(available: everything) == [.factor(.passcode)])
    }

    @Test func `a requirement that names very many services is still planned in time`() {
        let services = (0..<64).map {
            PolicyConstraint.pam(PolicyText("keychain-\($0)"), within: nil)
        }
        let available = Set((0..<64).map { PolicyMethod.pam(PolicyText("keychain-\($0)")) })
        let one = Requirement(.any(services)).cheapestProof(available: available)
        #expect(one?.count == 1)
    }
}
