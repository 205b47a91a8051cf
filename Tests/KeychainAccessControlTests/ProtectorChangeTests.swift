// SPDX-License-Identifier: Apache-2.0
import KeychainAccessControl
import KeychainPolicyModel
import Testing

@Suite struct ProtectorChangeTests {
    private let passcode: Set<PolicyMethod> = [.factor(.presence), .factor(.passcode)]

    private func change(
        isPasscodeSet: Bool = true, mayAsk: Bool = true, provable: Set<PolicyMethod>? = nil
    ) -> ProtectorChange {
        ProtectorChange(
            .add, keychain: [1, 2], isPasscodeSet: isPasscodeSet, mayAsk: mayAsk,
            provable: provable ?? passcode)
    }

    private func outcome(_ change: ProtectorChange, _ evidence: Evidence = Evidence()) -> String {
        switch Judge().judge(change, evidence) {
        case .allow(let grant): "allow \(grant.operation) \(grant.keychain)"
        case .deny(let denial): "\(denial)"
        case .allowAfter(let requirement): "\(requirement.constraint)"
        }
    }

    @Test func `a user who changes what opens a keychain proves their presence`() {
        #expect(outcome(change()) == "factor(KeychainPolicyModel.PolicyFactor.presence)")
        #expect(
            outcome(change(), Evidence().adding(.factor(.presence))) == "allow add [1, 2]")
        #expect(
            outcome(change(), Evidence().adding(.factor(.passcode))) == "allow add [1, 2]")
    }

    @Test func `a yes is no proof, nor is a proof that was given before`() {
        #expect(
            outcome(change(), Evidence().adding(.factor(.confirm)))
                == "factor(KeychainPolicyModel.PolicyFactor.presence)")
        let earlier = PolicyProof(
            .factor(.presence), age: PolicyDuration(milliseconds: 1), scope: .session)
        #expect(
            outcome(change(), Evidence([earlier]))
                == "factor(KeychainPolicyModel.PolicyFactor.presence)")
    }

    @Test func `with no user to ask it is refused, and says so`() {
        #expect(outcome(change(mayAsk: false)) == "interactionNotAllowed")
        #expect(outcome(change(provable: [])) == "impossible")
        #expect(outcome(change(isPasscodeSet: false)) == "passcodeNotSet")
    }
}
