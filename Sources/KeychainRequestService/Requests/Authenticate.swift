// SPDX-License-Identifier: Apache-2.0
internal import KeychainAccessControl
internal import KeychainItemStore
internal import KeychainMessages
internal import KeychainModel
internal import KeychainPolicyModel
internal import KeychainRequestAudit
internal import KeychainUserPresence
internal import KeychainVaults

/// What a context is for (`LAContext`): proofs that are given before, and for more than, one request.
extension KeychainService {
    func authenticate(
        _ constraint: Constraint, for asker: any Asker
    ) throws(Refusal) {
        guard let context = asker.context else { throw .badRequest }
        let evidence = authentication.evidence(for: asker)
        try authorize(for: asker, given: evidence) { evidence throws(Refusal) -> Ruling<Void> in
            switch PolicyItemConstraint(constraint) {
            case .none: return .allow(())
            case .never: throw .authenticationFailed
            case .needs(let needed):
                if PolicyDemand(needed).isMet(by: evidence.proofs, for: .readAttributes) {
                    return .allow(())
                }
                return .allowAfter(
                    try provable(needed, given: evidence, for: asker),
                    Question(.authenticate, names: [], itemCount: 0, reason: context.reason))
            }
        }
    }

    private func provable(
        _ needed: PolicyConstraint, given evidence: Evidence, for asker: any Asker
    ) throws(Refusal) -> Requirement {
        guard hasPasscode(asker.caller) else { throw .passcodeNotSet }
        let requirement = Requirement(needed)
        let provable = authentication.provable(for: asker)
        guard requirement.cheapestProof(given: evidence, available: provable) != nil else {
            throw .authenticationFailed
        }
        return requirement
    }

    func endContext(for asker: any Asker) {
        authentication.endContext(of: asker)
    }

    func capabilities(for asker: any Asker) -> Capabilities {
        let provable = authentication.provable(for: asker)
        var known = Capabilities()
        if hasPasscode(asker.caller) {
            known.passcode = provable.contains(.factor(.passcode))
            known.presence = provable.contains(.factor(.presence))
        }
        known.companion = provable.contains(.factor(.companion))
        known.biometryState = authentication.enrolledBiometry(of: asker.caller)
        if provable.contains(.factor(.biometry)) {
            known.biometry = .available
        } else if authentication.hasBiometryService() {
            known.biometry = .notEnrolled
        }
        known.interaction = authentication.mayAsk(.allow, for: asker)
        return known
    }

    /// Whether the login keychain has a password that could be asked for.
    private func hasPasscode(_ caller: Caller) -> Bool {
        guard let keychain = try? folder.keychain(nil, of: caller.user) else { return false }
        return (try? keychain.file.isPasswordProtected()) ?? false
    }
}
