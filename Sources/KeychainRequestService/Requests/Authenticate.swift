// SPDX-License-Identifier: Apache-2.0
internal import KeychainAccessControl
internal import KeychainItemStore
internal import KeychainMessages
internal import KeychainModel
internal import KeychainPolicyModel

/// What a context is for (`LAContext`): proofs that are given before, and for more than, one request.
extension KeychainService {
    func authenticate(
        _ constraint: Constraint, for asker: any Asker
    ) throws(Refusal) -> Answer {
        guard let context = asker.context else { throw .badRequest }
        let evidence = authentication.evidence(for: asker)
        switch PolicyItemConstraint(constraint) {
        case .none: break
        case .never: throw .authenticationFailed
        case .needs(let needed):
            if PolicyDemand(needed).isMet(by: evidence.proofs, for: .readAttributes) { break }
            guard hasPasscode(asker.caller) else { throw .passcodeNotSet }
            let requirement = Requirement(needed)
            let provable = authentication.provable(for: asker)
            guard requirement.cheapestProof(given: evidence, available: provable) != nil else {
                throw .authenticationFailed
            }
            guard authentication.mayAsk(.allow, for: asker) else { throw .interactionNotAllowed }
            let proven = try authentication.satisfy(
                requirement,
                Question(.authenticate, names: [], itemCount: 0, reason: context.reason),
                given: evidence, for: asker)
            audit?.record(.authenticate, asker, proven, nil)
        }
        return Answer()
    }

    func endContext(for asker: any Asker) -> Answer {
        authentication.endContext(of: asker)
        return Answer()
    }

    func capabilities(for asker: any Asker) -> Answer {
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
        var answer = Answer()
        answer.capabilities = known
        return answer
    }

    /// Whether the login keychain has a password that could be asked for.
    private func hasPasscode(_ caller: Caller) -> Bool {
        guard let keychain = try? folder.keychain(nil, of: caller.user) else { return false }
        return (try? keychain.file.isPasswordProtected()) ?? false
    }
}
