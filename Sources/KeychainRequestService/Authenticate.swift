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
        _ constraint: Constraint, for client: any Client
    ) throws(RequestError) {
        guard let context = client.context else { throw .invalid(.badRequest) }
        let evidence = authentication.evidence(for: client)
        try prompts(client).authorize(given: evidence) {
            evidence throws(RequestError) -> Ruling<Void> in
            switch PolicyItemConstraint(constraint) {
            case .none: return .allow(())
            case .never: throw .refused(.authenticationFailed)
            case .needs(let needed):
                if PolicyDemand(needed).isMet(by: evidence.proofs, for: .readAttributes) {
                    return .allow(())
                }
                return .allowAfter(
                    try provable(needed, given: evidence, for: client),
                    Question(.authenticate, names: [], itemCount: 0, reason: context.reason))
            }
        }
    }

    private func provable(
        _ needed: PolicyConstraint, given evidence: Evidence, for client: any Client
    ) throws(RequestError) -> Requirement {
        guard hasPasscode(client.caller) else { throw .state(.passcodeNotSet) }
        let requirement = Requirement(needed)
        let provable = authentication.provable(for: client)
        guard requirement.cheapestProof(given: evidence, available: provable) != nil else {
            throw .refused(.authenticationFailed)
        }
        return requirement
    }

    func endContext(for client: any Client) {
        authentication.endContext(of: client)
    }

    func capabilities(for client: any Client) -> Capabilities {
        let provable = authentication.provable(for: client)
        var known = Capabilities()
        if hasPasscode(client.caller) {
            known.passcode = provable.contains(.factor(.passcode))
            known.presence = provable.contains(.factor(.presence))
        }
        known.companion = provable.contains(.factor(.companion))
        known.biometryState = authentication.enrolledBiometry(of: client.caller)
        if provable.contains(.factor(.biometry)) {
            known.biometry = .available
        } else if authentication.hasBiometryService() {
            known.biometry = .notEnrolled
        }
        known.interaction = authentication.mayAsk(.allow, for: client)
        return known
    }

    /// Whether the login keychain has a password that could be asked for.
    private func hasPasscode(_ caller: Caller) -> Bool {
        guard let keychain = try? folder.keychain(nil, of: caller.user) else { return false }
        return (try? keychain.file.isPasswordProtected()) ?? false
    }
}
