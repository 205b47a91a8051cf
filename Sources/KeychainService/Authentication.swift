// SPDX-License-Identifier: Apache-2.0
internal import AccessControl
internal import KeychainModel

/// Asks for what the judge requires, once for a whole request.
struct Authentication: Sendable {
    private let authenticator: any Authenticator

    init(_ authenticator: any Authenticator) { self.authenticator = authenticator }

    func mayAsk(_ ui: ItemQuery.AuthenticationUI, for asker: any Asker) -> Bool {
        ui == .allow && authenticator.canAsk(for: asker)
    }

    func hasPrompter(for caller: Caller) -> Bool { authenticator.hasPrompter(for: caller) }

    /// The evidence that meets the requirement, or the refusal that came of asking.
    func satisfy(
        _ requirement: Requirement, _ question: Question, for asker: any Asker
    ) throws(Refusal) -> Evidence {
        guard let proof = requirement.cheapestProof() else { throw .authenticationFailed }
        var evidence = Evidence()
        for factor in proof {
            try authenticator.prove(factor, question, for: asker)
            evidence = evidence.adding(factor)
        }
        // Whoever asked may have become another program while the user was typing.
        guard asker.isUnchanged() else { throw .authenticationFailed }
        return evidence
    }
}

extension Refusal {
    init(_ denial: Denial) {
        switch denial {
        case .unknownItem: self = .notFound
        case .impossible: self = .authenticationFailed
        case .locked: self = .locked
        case .passcodeNotSet: self = .passcodeNotSet
        case .interactionNotAllowed: self = .interactionNotAllowed
        }
    }
}
