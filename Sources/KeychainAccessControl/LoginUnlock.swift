// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyEngine
public import KeychainPolicyModel

/// A login without a password that may still open its user's keychain, with a protector that the
/// user enrolled. PAM's success is the only proof of the user.
public struct LoginUnlock: Sendable {
    /// The protectors that such a login may use; policies see them as `ChoiceField.protector`.
    public enum Opener: UInt8, Sendable, Hashable {
        case tpm, credential, securityKey

        /// Whether the protector needs a touch.
        var provesPresence: Bool { self == .securityKey }
    }

    /// The protector that is to open the keychain.
    public let opener: Opener
    /// The facts that policies ask about the login, its user and the moment.
    public let facts: PolicyFacts
    /// Today's local date in days since 1970-01-01.
    public let day: Int32

    /// `service` is the PAM service of the session.
    public init(through service: String, with opener: Opener, facts: PolicyFacts, day: Int32) {
        self.opener = opener
        self.day = day
        var facts = facts
        facts[.pamService] =
            service.isEmpty ? .unknown : .known([PolicyText(service.lowercased())])
        facts[.protector] = .known(opener.rawValue)
        // No question was or could be asked: the login does not wait.
        facts[.interactive] = .known(false)
        self.facts = facts
    }

    var request: PolicyRequest {
        let touch = PolicyProof(.factor(.presence), age: .zero, scope: .operation)
        return PolicyRequest(
            .unlock, facts: facts, evidence: opener.provesPresence ? [touch] : [], day: day)
    }
}

extension Judge {
    /// Why the login may not open the keychain; nil where it may. Only a policy says which logins
    /// prove their user: without a policy, none does.
    public func judge(_ login: LoginUnlock) -> Denial? {
        guard let decision = account(of: login)?.decision else { return .impossible }
        switch decision.outcome {
        case .allow: return nil
        case .deny:
            let lead = policy.decide(policy.admit(login.request)).lead
            return .forbidden(because: decision.because.map(\.string), first: lead.flatMap(place))
        case .challenge, .interactionNotAllowed: return .interactionNotAllowed
        }
    }

    /// The decision with the request that it rests on, for the record; nil where there is no
    /// policy.
    public func account(
        of login: LoginUnlock
    ) -> (request: PolicyRequest, decision: PolicyDecision)? {
        policy.isEmpty ? nil : (login.request, policy.decision(on: login.request))
    }
}
