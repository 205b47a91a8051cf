// SPDX-License-Identifier: Apache-2.0
internal import CallerIdentity
internal import KeychainLinuxSystem
internal import KeychainLocalSocket
internal import KeychainMessages
internal import KeychainModel
internal import KeychainPolicyEngine
internal import KeychainPolicyModel
internal import KeychainRequestAudit
internal import KeychainUserPresence

/// A program that a deputy asks for, for one request. It is judged by its own name and place.
final class RelayedClient: Client {
    let caller: Caller
    let logins: LiveLogins?
    let context: AuthenticationContext?
    let notes: RequestNotes
    /// Whose requests these are, by its process.
    var deputy: Int32? { connected.connection.process?.id }
    /// The deputy has no terminal, and starts nothing on another program's.
    let offersTerminal = false
    private let program: RelayedProgram
    private let connected: ConnectedProgram
    private let sessionAttributes: SessionAttributes
    /// How a secret will travel to the program; absent where none does.
    private let transfer: Fact<UInt8>

    /// `seen` is the look at the user's logins as the request came.
    init(
        _ program: RelayedProgram, by deputy: ConnectedProgram,
        _ seen: (logins: LiveLogins, caller: Caller), _ sessionAttributes: SessionAttributes,
        transfer: Relay.Transfer?, context: AuthenticationContext?, notes: RequestNotes
    ) {
        self.program = program
        connected = deputy
        (logins, caller) = (seen.logins, seen.caller)
        self.sessionAttributes = sessionAttributes
        self.transfer =
            transfer.flatMap { ChoiceField.transfer.index(of: $0.word) }
            .map { .known($0) } ?? .absent
        self.context = context
        self.notes = notes
    }

    var process: ProofOrigin.Process? {
        ProofOrigin.Process(program.process, running: program.executable)
    }

    func terminal() -> ProofOrigin.Terminal? { ProofOrigin.Terminal(program.process) }

    func descends(from process: ProofOrigin.Process) -> Bool {
        process.isAncestor(of: program.process)
    }

    func policyFacts(_ asked: AskedFacts) -> PolicyFacts {
        var facts = program.callerFacts.facts(of: caller, asked)
        facts[ChoiceField.transfer] = transfer
        sessionAttributes.add(asked, to: &facts)
        return facts
    }

    func numbered(_ facts: PolicyFacts, under policy: CompiledPolicy) -> NumberedTexts? {
        program.callerFacts.numbered(facts, under: policy)
    }

    func factsToTell() -> @Sendable () -> PolicyFacts {
        program.callerFacts.toTell(policyFacts(.toldAtOnce), of: caller)
    }

    func reach(
        _ policy: CompiledPolicy, for operation: PolicyOperation, byNameAlone: Bool
    ) -> VisibleGroups {
        program.callerFacts.reach(
            policy, caller, for: operation, byNameAlone: byNameAlone, transfer: transfer)
    }

    /// Of the deputy it counts that it lives: it goes on under the same connection where its file is
    /// replaced by a newer one, and no other process speaks there.
    func isUnchanged() -> Bool {
        program.isUnchanged() && connected.connection.process?.isAlive ?? false
    }

    /// The program, or the deputy, which ends its connection where the program takes a request back.
    func hasGone() -> Bool { connected.connection.peerHungUp() || !program.process.isAlive }

    func startPrompter(challenge: [UInt8]) -> Bool { false }
}

extension Relay.Transfer {
    /// The policy's word for it.
    fileprivate var word: String {
        switch self {
        case .plain: "plain"
        case .encrypted: "encrypted"
        }
    }
}
