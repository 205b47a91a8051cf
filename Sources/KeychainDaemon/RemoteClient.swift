// SPDX-License-Identifier: Apache-2.0
internal import CallerIdentity
internal import KeychainLocalSocket
internal import KeychainMessages
internal import KeychainModel
internal import KeychainPolicyEngine
internal import KeychainPolicyModel
internal import KeychainRequestAudit
internal import KeychainUserPresence

/// A program at the other end of a socket.
final class RemoteClient: Client {
    let caller: Caller
    let logins: LiveLogins?
    let context: AuthenticationContext?
    let offersTerminal: Bool
    private let connection: ServerConnection
    /// How it looked when the connection was accepted.
    private let facts: ProcessFacts?
    private let prompterProgram: String
    private let callerFacts: CallerFacts
    private let sessionAttributes: SessionAttributes
    let notes: RequestNotes

    init(
        _ caller: Caller, _ logins: LiveLogins, _ connection: ServerConnection,
        facts: ProcessFacts?,
        _ callerFacts: CallerFacts, _ sessionAttributes: SessionAttributes,
        context: AuthenticationContext?,
        offersTerminal: Bool, prompterProgram: String, notes: RequestNotes
    ) {
        self.notes = notes
        self.caller = caller
        self.logins = logins
        self.context = context
        self.connection = connection
        self.facts = facts
        self.callerFacts = callerFacts
        self.sessionAttributes = sessionAttributes
        self.offersTerminal = offersTerminal
        self.prompterProgram = prompterProgram
    }

    /// What it runs was looked at when it connected, and is again before the answer.
    var process: ProofOrigin.Process? {
        connection.process.flatMap { ProofOrigin.Process($0, running: facts?.executable) }
    }

    func terminal() -> ProofOrigin.Terminal? {
        connection.process.flatMap(ProofOrigin.Terminal.init)
    }

    func descends(from process: ProofOrigin.Process) -> Bool {
        connection.process.map(process.isAncestor) ?? false
    }

    func policyFacts(_ asked: AskedFacts) -> PolicyFacts {
        var facts = callerFacts.facts(of: caller, asked)
        sessionAttributes.add(asked, to: &facts)
        return facts
    }

    func numbered(_ facts: PolicyFacts, under policy: CompiledPolicy) -> NumberedTexts? {
        callerFacts.numbered(facts, under: policy)
    }

    func factsToTell() -> @Sendable () -> PolicyFacts {
        let facts = policyFacts(.toldAtOnce)
        let groups = callerFacts.groupsToTell(of: caller)
        return {
            var facts = facts
            facts[.group] = groups()
            return facts
        }
    }

    func reach(
        _ policy: CompiledPolicy, for operation: PolicyOperation, byNameAlone: Bool
    ) -> VisibleGroups {
        callerFacts.reach(policy, caller, for: operation, byNameAlone: byNameAlone)
    }

    func isUnchanged() -> Bool { facts?.hold() ?? false }

    func hasGone() -> Bool { connection.peerHungUp() }

    func startPrompter(challenge: [UInt8]) -> Bool {
        let words = ServerMessage.needsPrompter(challenge: challenge, program: prompterProgram)
        let (message, secrets) = words.encoded()
        return (try? connection.send(Frame(message: message, secrets: secrets))) != nil
    }
}
