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

/// A program that a deputy relays a request for. The program is judged by its own name and place.
final class RelayedClient: Client {
    let caller: Caller
    let logins: LiveLogins?
    let context: AuthenticationContext?
    let notes: RequestNotes
    let window: XWindow?
    /// The process of the deputy that relays the request.
    var deputy: Int32? { connected.connection.process?.id }
    /// The deputy has no terminal, and starts nothing on another program's terminal.
    let offersTerminal = false
    private let program: RelayedProgram
    private let connected: ConnectedProgram
    private let sessionAttributes: SessionAttributes
    /// How a secret will be transferred to the program; absent for requests without one.
    private let transfer: Fact<UInt8>

    /// `seen` is the state of the user's logins when the request came.
    init(
        _ program: RelayedProgram, by deputy: ConnectedProgram,
        _ seen: (logins: LiveLogins, caller: Caller), _ sessionAttributes: SessionAttributes,
        _ relay: Relay, context: AuthenticationContext?, notes: RequestNotes
    ) {
        self.program = program
        connected = deputy
        (logins, caller) = (seen.logins, seen.caller)
        self.sessionAttributes = sessionAttributes
        self.transfer =
            relay.transfer.flatMap { ChoiceField.transfer.index(of: $0.word) }
            .map { .known($0) } ?? .absent
        window = relay.window
        self.context = context
        self.notes = notes
    }

    var process: ProofOrigin.Process? {
        ProofOrigin.Process(program.process, running: program.executable)
    }

    func terminal() -> ProofOrigin.Terminal? { ProofOrigin.Terminal(program.process) }

    func descends(from process: ProofOrigin.Process) -> Bool {
        process.isAncestor(of: program.process, connected.looks)
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

    /// Of the deputy it only matters that its process lives: it keeps its connection when its file
    /// is replaced by a newer version, and no other process can use that connection.
    func isUnchanged() -> Bool {
        program.isUnchanged() && connected.connection.process?.isAlive ?? false
    }

    /// Whether the program has ended, or the deputy has closed its connection, as it does when the
    /// program cancels a request.
    func hasGone() -> Bool { connected.connection.peerHungUp() || !program.process.isAlive }

    func startPrompter(challenge: [UInt8]) -> Bool { false }
}

extension Relay.Transfer {
    /// The transfer's name in policies.
    fileprivate var word: String {
        switch self {
        case .plain: "plain"
        case .encrypted: "encrypted"
        }
    }
}
