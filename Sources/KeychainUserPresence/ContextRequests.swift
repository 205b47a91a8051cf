// SPDX-License-Identifier: Apache-2.0
package import KeychainMessages
package import KeychainModel
internal import KeychainAccessControl
internal import KeychainPolicyModel

// Requests about a context (`LAContext`): proofs that are given before, and for more than, one
// request. `hasPasscode` is whether the login keychain has a password that could be asked for.

extension UserPrompts {
    package func authenticate(
        _ constraint: Constraint, hasPasscode: @autoclosure () -> Bool
    ) throws(RequestError) {
        guard let context = client.context else { throw .invalid(.badRequest) }
        let evidence = authentication.evidence(for: client)
        try authorize(given: evidence) { evidence throws(RequestError) -> Ruling<Void> in
            switch PolicyItemConstraint(constraint) {
            case .none: return .allow(())
            case .never: throw .refused(.authenticationFailed)
            case .needs(let needed):
                if PolicyDemand(needed).isMet(by: evidence.proofs, for: .readAttributes) {
                    return .allow(())
                }
                guard hasPasscode() else { throw .state(.passcodeNotSet) }
                return .allowAfter(
                    try provable(needed, given: evidence),
                    Question(.authenticate, names: [], itemCount: 0, reason: context.reason))
            }
        }
    }

    private func provable(
        _ needed: PolicyConstraint, given evidence: Evidence
    ) throws(RequestError) -> Requirement {
        let requirement = Requirement(needed)
        let provable = authentication.provable(for: client)
        guard requirement.cheapestProof(given: evidence, available: provable) != nil else {
            throw .refused(.authenticationFailed)
        }
        return requirement
    }
}

extension Authentication {
    package func capabilities(for client: any Client, hasPasscode: Bool) -> Capabilities {
        let provable = provable(for: client)
        var known = Capabilities()
        if hasPasscode {
            known.passcode = provable.contains(.factor(.passcode))
            known.presence = provable.contains(.factor(.presence))
        }
        known.companion = provable.contains(.factor(.companion))
        known.biometryState = enrolledBiometry(of: client.caller)
        if provable.contains(.factor(.biometry)) {
            known.biometry = .available
        } else if hasBiometryService() {
            known.biometry = .notEnrolled
        }
        known.interaction = mayAsk(.allow, for: client)
        return known
    }
}
