// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyEngine
public import KeychainPolicyModel

/// A login that carries no password, and may open its user's keychain all the same with something
/// that the user enrolled for it. PAM's success is all the proof there is that it is the user.
public struct LoginUnlock: Sendable {
    /// `ChoiceField.protector` in words of its own.
    public enum Opener: UInt8, Sendable, Hashable {
        case tpm, credential, securityKey

        /// It needs a touch.
        var provesPresence: Bool { self == .securityKey }
    }

    /// What is to open it.
    public let opener: Opener
    /// What policies ask about the login, its user and the moment.
    public let facts: PolicyFacts
    /// Today's local date in days since 1970-01-01.
    public let day: Int32

    /// `service` is PAM's, of the session.
    public init(through service: String, with opener: Opener, facts: PolicyFacts, day: Int32) {
        self.opener = opener
        self.day = day
        var facts = facts
        facts[.pamService] =
            service.isEmpty ? .unknown : .known([PolicyText(service.lowercased())])
        facts[.protector] = .known(opener.rawValue)
        // The user has not been asked anything, and could not be: the login does not wait.
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
    /// Why it may not open the keychain; nil where it may. Which logins are their user's own is the
    /// policy's word: without one, none is.
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

    /// The same with what it rests on, for the record; nil where there is no policy.
    public func account(
        of login: LoginUnlock
    ) -> (request: PolicyRequest, decision: PolicyDecision)? {
        policy.isEmpty ? nil : (login.request, policy.decision(on: login.request))
    }
}
