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

/// A connection, and what was seen of its program when it was accepted.
struct ConnectedProgram {
    let connection: ServerConnection
    let facts: ProcessFacts?
    let callerFacts: CallerFacts
}

/// A program at the other end of a socket, for one request.
final class RemoteClient: Client {
    let caller: Caller
    let logins: LiveLogins?
    let context: AuthenticationContext?
    /// A prompter that the client starts can read from the client's terminal only while the client is
    /// in its foreground. Looked at where a question may be asked: most requests ask none.
    var offersTerminal: Bool {
        prompterProgram != nil && connection.process?.isInForeground ?? false
    }
    private let program: ConnectedProgram
    private let sessionAttributes: SessionAttributes
    /// Shows a question on the client's terminal; nil where the client says that it has none.
    private let prompterProgram: String?
    let notes: RequestNotes

    private var connection: ServerConnection { program.connection }
    private var facts: ProcessFacts? { program.facts }

    /// `seen` is the look at the user's logins as the request came.
    init(
        _ program: ConnectedProgram, _ seen: (logins: LiveLogins, caller: Caller),
        _ sessionAttributes: SessionAttributes, context: AuthenticationContext?,
        prompterProgram: String?, notes: RequestNotes
    ) {
        self.program = program
        (logins, caller) = (seen.logins, seen.caller)
        self.sessionAttributes = sessionAttributes
        self.context = context
        self.prompterProgram = prompterProgram
        self.notes = notes
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
        var facts = program.callerFacts.facts(of: caller, asked)
        sessionAttributes.add(asked, to: &facts)
        return facts
    }

    func numbered(_ facts: PolicyFacts, under policy: CompiledPolicy) -> NumberedTexts? {
        program.callerFacts.numbered(facts, under: policy)
    }

    func factsToTell() -> @Sendable () -> PolicyFacts {
        let facts = policyFacts(.toldAtOnce)
        let groups = program.callerFacts.groupsToTell(of: caller)
        return {
            var facts = facts
            facts[.group] = groups()
            return facts
        }
    }

    func reach(
        _ policy: CompiledPolicy, for operation: PolicyOperation, byNameAlone: Bool
    ) -> VisibleGroups {
        program.callerFacts.reach(policy, caller, for: operation, byNameAlone: byNameAlone)
    }

    func isUnchanged() -> Bool { facts?.hold() ?? false }

    func hasGone() -> Bool { connection.peerHungUp() }

    func startPrompter(challenge: [UInt8]) -> Bool {
        guard let prompterProgram else { return false }
        let words = ServerMessage.needsPrompter(challenge: challenge, program: prompterProgram)
        let (message, secrets) = words.encoded()
        return (try? connection.send(Frame(message: message, secrets: secrets))) != nil
    }
}
