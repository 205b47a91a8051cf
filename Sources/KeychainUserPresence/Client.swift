// SPDX-License-Identifier: Apache-2.0
package import KeychainMessages
package import KeychainModel
package import KeychainPolicyEngine
package import KeychainPolicyModel
package import KeychainRequestAudit

/// The program that a request comes from, for as long as it is under way.
package protocol Client: Sendable {
    var caller: Caller { get }
    /// The logins of the caller's user that were alive when the request came; nil where none looked.
    var logins: LiveLogins? { get }
    /// What the request was made in; without one, proofs serve this request alone.
    var context: AuthenticationContext? { get }
    /// The process that brings the program's requests; nil for a program that asks itself.
    var deputy: Int32? { get }
    /// Where a proof that is given now belongs, and which ones may be taken: in this process, on
    /// its terminal, in the caller's session.
    var process: ProofOrigin.Process? { get }
    func terminal() -> ProofOrigin.Terminal?
    /// Whether that process is one of its ancestors, and still the program it was.
    func descends(from process: ProofOrigin.Process) -> Bool
    /// What policies ask about the program and its session, as far as it is asked for.
    func policyFacts(_ asked: AskedFacts) -> PolicyFacts
    /// The texts among these facts in the policy's numbers, where they are kept.
    func numbered(_ facts: PolicyFacts, under policy: CompiledPolicy) -> NumberedTexts?
    /// What a record tells of the program and its session as they are now. What comes back may be
    /// called once the request is over, and may take long.
    func factsToTell() -> @Sendable () -> PolicyFacts
    /// What a policy lets the client know of besides its own items; `byNameAlone` where a share of
    /// any group does not count.
    func reach(
        _ policy: CompiledPolicy, for operation: PolicyOperation, byNameAlone: Bool
    ) -> VisibleGroups
    /// The rules that refused the client, for the explanation.
    var notes: RequestNotes { get }
    /// Whether a prompter may be started on the program's own terminal.
    var offersTerminal: Bool { get }
    /// Whether it is still the program it was when the request arrived.
    func isUnchanged() -> Bool
    /// Whether the program no longer waits for the answer.
    func hasGone() -> Bool
    /// Asks the program to start a prompter on its own terminal; false when it can't.
    func startPrompter(challenge: [UInt8]) -> Bool
}

extension Client {
    package func numbered(
        _ facts: PolicyFacts, under policy: CompiledPolicy
    ) -> NumberedTexts? { nil }

    package var logins: LiveLogins? { nil }

    package var deputy: Int32? { nil }

    package func factsToTell() -> @Sendable () -> PolicyFacts {
        let facts = policyFacts(.told)
        return { facts }
    }

    package func descends(from process: ProofOrigin.Process) -> Bool { false }

    package var places: ProofOrigin {
        ProofOrigin(
            process: process, terminal: terminal(), session: caller.session?.rawValue)
    }
}
