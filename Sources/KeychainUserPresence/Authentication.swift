// SPDX-License-Identifier: Apache-2.0
package import KeychainAccessControl
internal import KeychainMessages
package import KeychainModel
package import KeychainPolicyModel
package import KeychainSecrets

/// Asks for what the judge requires, once for a whole request, and remembers what was proven.
package struct Authentication: Sendable {
    private let authenticator: any Authenticator
    private let store: EvidenceStore

    package init(_ authenticator: any Authenticator, _ store: EvidenceStore) {
        self.authenticator = authenticator
        self.store = store
    }

    package func mayAsk(_ ui: ItemQuery.AuthenticationUI, for client: any Client) -> Bool {
        ui == .allow && client.context?.mayInteract != false && authenticator.canAsk(for: client)
    }

    /// What users let programs have for a session.
    package var trust: SessionTrust { store.trust }

    /// What the user says to a program that asks for another one's item, if there is one.
    /// `.cancelled` is a no.
    package func consent(
        for client: any Client, _ candidate: () -> (question: Question, options: ConsentOptions)?
    ) throws(RequestError) -> ConsentResult? {
        try authenticator.consent(for: client, candidate)
    }

    /// Has the user open a keychain. A user who could not be asked hears that it is locked.
    package func open(
        _ prompt: String, _ question: Question, for client: any Client, unless isOpen: () -> Bool,
        with opens: (HeldSecret) throws(RequestError) -> Bool
    ) throws(RequestError) {
        do throws(RequestError) {
            try authenticator.open(prompt, question, for: client, unless: isOpen, with: opens)
        } catch {
            switch error {
            case .refused(.interactionNotAllowed), .refused(.tooManyRequests): throw .state(.locked)
            default: throw error
            }
        }
    }

    package func hasPrompter(for caller: Caller) -> Bool { authenticator.hasPrompter(for: caller) }

    /// What the client's user could be asked to prove.
    package func provable(for client: any Client) -> Set<PolicyMethod> {
        authenticator.provable(for: client.caller)
    }

    package func hasBiometryService() -> Bool { authenticator.hasBiometryService() }

    package func enrolledBiometry(of caller: Caller) -> [UInt8] {
        authenticator.enrolledBiometry(of: caller)
    }

    /// What was proven before and may serve again.
    package func evidence(for client: any Client) -> Evidence { store.evidence(for: client) }

    package func forget(_ user: UInt32) { store.forget(user) }

    package func endContext(of client: any Client) { store.forgetContext(of: client) }

    /// What the user proves to meet the requirement, or the refusal that came of asking.
    ///
    /// Where a reader or a second device does not do, another way is tried, if there is one.
    package func satisfy(
        _ requirement: Requirement, _ question: Question, given evidence: Evidence,
        for client: any Client
    ) throws(RequestError) -> [PolicyMethod] {
        var available = provable(for: client)
        var proven: [PolicyMethod] = []
        while true {
            let known = proven.reduce(evidence) { $0.adding($1) }
            guard let proof = requirement.cheapestProof(given: known, available: available) else {
                throw .refused(.authenticationFailed)
            }
            guard let next = proof.first else { break }
            do throws(RequestError) {
                try authenticator.prove(next, question, for: client)
                proven.append(next)
            } catch {
                guard error == .refused(.authenticationFailed), next.mayFailWithoutFault else {
                    throw error
                }
                available.remove(next)
            }
        }
        return proven
    }

    /// Keeps what was proven for later requests. The client may have become another program while the
    /// user was typing: who calls this has looked.
    package func keep(
        _ proven: [PolicyMethod], for client: any Client, about items: [ItemReference]
    ) {
        store.add(proven, for: client, about: items)
    }

    /// What the client's user types as the application password of an item.
    package func applicationPassword(
        _ question: Question, isNew: Bool, for client: any Client
    ) throws(RequestError) -> HeldSecret {
        let typed = try authenticator.ask("Application password: ", question, for: client)
        guard isNew else { return typed }
        let again = try authenticator.ask("The same again: ", question, for: client)
        guard typed.bytes.matches(again.bytes) else { throw .refused(.authenticationFailed) }
        return typed
    }
}

extension PolicyMethod {
    /// A wet finger, a key that is not plugged in.
    fileprivate var mayFailWithoutFault: Bool {
        self == .factor(.biometry) || self == .factor(.companion)
    }
}

extension RequestError {
    package init(_ denial: Denial) {
        switch denial {
        case .unknownItem: self = .state(.notFound)
        case .impossible: self = .refused(.authenticationFailed)
        case .forbidden: self = .refused(.forbidden)
        case .locked: self = .state(.locked)
        case .passcodeNotSet: self = .state(.passcodeNotSet)
        case .interactionNotAllowed: self = .refused(.interactionNotAllowed)
        }
    }
}
