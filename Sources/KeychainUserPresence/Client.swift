// SPDX-License-Identifier: Apache-2.0
package import KeychainMessages
package import KeychainModel
package import KeychainPolicyEngine
package import KeychainPolicyModel
package import KeychainRequestAudit

/// The program that a request comes from, while the request is under way.
package protocol Client: Sendable {
    var caller: Caller { get }
    /// The logins of the caller's user that were alive when the request came; nil where they were
    /// not looked up.
    var logins: LiveLogins? { get }
    /// The authentication context of the request; without one, proofs serve this request alone.
    var context: AuthenticationContext? { get }
    /// The process that brings the program's requests; nil for a program that sends its own.
    var deputy: Int32? { get }
    /// Leads to the machine's keychain, where another process has it open and the program may
    /// reach it there.
    var machine: (any MachineSearch)? { get }
    /// The window over which the program wants a question shown: its own word; nil for a program that
    /// named none.
    var window: XWindow? { get }
    /// Where a proof given now is recorded, and where an earlier proof must have been given to
    /// count: in this process, on its terminal, in the caller's session.
    var process: ProofOrigin.Process? { get }
    func terminal() -> ProofOrigin.Terminal?
    /// Whether `process` is one of the client's ancestors, and still the program that it was.
    func descends(from process: ProofOrigin.Process) -> Bool
    /// The facts about the program and its session that `asked` names.
    func policyFacts(_ asked: AskedFacts) -> PolicyFacts
    /// The texts among these facts as the policy's numbers; nil where such numbers are not kept.
    func numbered(_ facts: PolicyFacts, under policy: CompiledPolicy) -> NumberedTexts?
    /// The facts about the program and its session, as they are now, for a record. The returned
    /// function may be called after the request is over, and may take long.
    func factsToTell() -> @Sendable () -> PolicyFacts
    /// The groups that a policy lets the client know of besides its own items; `byNameAlone` where
    /// a share of any group does not count.
    func reach(
        _ policy: CompiledPolicy, for operation: PolicyOperation, byNameAlone: Bool
    ) -> VisibleGroups
    /// The rules that refused the client, for the explanation.
    var notes: RequestNotes { get }
    /// Whether a prompter may be started on the program's own terminal.
    var offersTerminal: Bool { get }
    /// Whether the client is still the program that it was when the request arrived.
    func isUnchanged() -> Bool
    /// Whether the program no longer waits for the answer.
    func hasGone() -> Bool
    /// Asks the program to start a prompter on its own terminal; false when it can't.
    func startPrompter(challenge: [UInt8]) -> Bool
}

/// The machine's keychain in the process that has it open. That process looks at the program by
/// itself, and asks no user anything.
package protocol MachineSearch: Sendable {
    /// Sends the verb for the client, and hands out the parts of the answer as they come. Throws
    /// what the other process refuses, after its rules were noted for the client; `.notAvailable`
    /// where it does not answer.
    func ask<V: Verb>(
        _ verb: V, for client: any Client, _ part: (V.Answer) throws(RequestError) -> Void
    ) throws(RequestError)
}

extension Client {
    package func numbered(
        _ facts: PolicyFacts, under policy: CompiledPolicy
    ) -> NumberedTexts? { nil }

    package var logins: LiveLogins? { nil }

    package var deputy: Int32? { nil }

    package var window: XWindow? { nil }

    package var machine: (any MachineSearch)? { nil }

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
