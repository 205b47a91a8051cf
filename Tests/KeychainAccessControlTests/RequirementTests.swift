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

@Suite struct ApprovalTests {
    private let approvers: [PolicyConstraint] = [.approval(by: "ann"), .approval(by: "bob")]

    private func cheapest(
        _ constraint: PolicyConstraint, asked asker: String, given: [PolicyMethod] = []
    ) -> [PolicyMethod]? {
        Requirement(constraint).cheapestProof(
            given: given.reduce(Evidence()) { $0.adding($1) },
            available: [.factor(.passcode), .approvals(besides: asker)])
    }

    @Test func `is that of another person than the asker`() {
        #expect(cheapest(.any(approvers), asked: "eve") == [.approval(by: "ann")])
        #expect(cheapest(.any(approvers), asked: "ann") == [.approval(by: "bob")])
        #expect(cheapest(.approval(by: "ann"), asked: "ann") == nil)
        #expect(cheapest(.all(approvers), asked: "ann") == nil)
        #expect(
            Requirement(.any(approvers)).approvals(besides: [.approvals(besides: "ann")])
                == [.approval(by: "bob")])
    }

    @Test func `takes as many people as are wanted`() {
        let two = PolicyConstraint.atLeast(2, of: approvers + [.approval(by: "eve")])
        #expect(cheapest(two, asked: "root")?.count == 2)
        #expect(cheapest(two, asked: "eve") == [.approval(by: "ann"), .approval(by: "bob")])
        #expect(
            cheapest(two, asked: "root", given: [.approval(by: "eve")]) == [.approval(by: "ann")])
    }

    @Test func `can't be given where the machine has no service for it`() {
        let without = Requirement(.any(approvers)).cheapestProof(available: everything)
        #expect(without == nil)
    }

    @Test func `is no proof of anything else, and nothing else is one`() {
        #expect(cheapest(.factor(.presence), asked: "eve", given: [.approval(by: "ann")]) != [])
        #expect(
            cheapest(.approval(by: "ann"), asked: "eve", given: [.pam("keychain-approval")]) != [])
        #expect(
            PolicyConstraint.any(approvers).canonical.json
                == #"{"any":[{"approval":"ann"},{"approval":"bob"}]}"#)
    }
}
