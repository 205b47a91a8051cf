// SPDX-License-Identifier: Apache-2.0
internal import AccountDatabase
internal import CallerIdentity
internal import KeychainAccessControl
internal import KeychainActivePolicy
internal import KeychainLinuxSystem
internal import KeychainLocalSocket
internal import KeychainMessages
internal import KeychainModel
internal import KeychainPolicyEngine
internal import KeychainPolicyModel
internal import KeychainRequestAudit
internal import KeychainRequestService
internal import KeychainUserPresence
internal import KeychainVaults
internal import PromptedAuthentication

/// Serves the user's connections with one thread for each, and a bounded number of them.
package final class RequestServer: Sendable {
    /// A client must send its first request within this time, or is disconnected.
    private static let firstRequestWithin: Duration = .seconds(10)
    /// A client that sends nothing for this long is disconnected.
    private static let nextRequestWithin: Duration = .seconds(900)
    /// How long a deputy's `WatchKeychains` waits for a change before it is answered without one.
    private static let watchFor: Duration = .seconds(50)

    /// Bytes of memory per byte of a message, at worst: an empty constraint is one byte in the
    /// message, and a value of 16 bytes in a list that grows by doubling.
    private static let unfolding = 32

    private let source: any ConnectionSource
    private let service: KeychainService
    let resolver: CallerResolver
    let directory: CallerFacts.Directory
    private var memory: MemoryBudget { service.memory }
    private let prompters: PrompterRegistry
    private let promptPlaces: RequestNotes.PromptPlaces
    private let prompterProgram: String
    private let deputyProgram: DeputyProgram
    private let peers: RelayedPeers
    private let limits: ConnectionLimits
    private let turns = RequestTurns()
    private let cores = ClientCores()
    private let users: ConnectedUsers
    let connections = OpenConnections()
    /// Of programs of other users, for which their own workers speak.
    let relayed = RelayedConnections()

    /// Programs that the daemon knows by the group of their file.
    struct Programs {
        let prompter: String
        /// The deputy, which makes requests for the programs of the user's bus.
        let deputy: String
    }

    init(
        _ source: any ConnectionSource, service: KeychainService, resolver: CallerResolver,
        directory: CallerFacts.Directory, prompters: PrompterRegistry, programs: Programs,
        users: ConnectedUsers = ConnectedUsers()
    ) {
        self.source = source
        self.users = users
        self.service = service
        self.resolver = resolver
        self.directory = directory
        limits = ConnectionLimits(program: resolver.looks.path)
        peers = RelayedPeers { [changes = service.changes] in
            changes.forget($0.process, of: $0.user)
        }
        self.prompters = prompters
        promptPlaces = { caller in
            let place = prompters.prompter(for: caller)?.place ?? .terminal(of: caller)
            return place.map { "\($0)" } ?? ""
        }
        prompterProgram = programs.prompter
        deputyProgram = DeputyProgram(programs.deputy)
    }

    /// The number of connections.
    var connectionCount: Int { limits.count + relayed.count }

    /// Returns when the source is shut down and the requests that were under way are answered.
    package func run() {
        source.serve(limits) { [self] in welcome($0) }
        connections.finish()
    }

    private func welcome(_ incoming: IncomingConnection) {
        guard let connection = try? ServerConnection(incoming.descriptor) else { return }
        // Looked at before the name is resolved: a peer that executes another program in between is
        // then seen to have changed. One that can't be looked at is not taken for any program.
        var facts: ProcessFacts?
        if let process = connection.process {
            facts = ProcessFacts(process, resolver.looks)
            guard facts != nil else { return }
        }
        let program = ConnectedProgram(
            connection, facts, directory, machine: incoming.machine.map { MachineKeychain($0) })
        let caller = resolver.resolve(connection, running: program.facts?.program)
        let deputy =
            deputyProgram.isDeputy(connection.peer)
            ? DeputyConnection(connection, peers, resolver, directory) : nil
        if deputy != nil { guard (try? connection.takeDescriptors()) != nil else { return } }
        // Sent only now: a peer that knows the nonce may have spoken and executed another program.
        guard (try? connection.greet()) != nil else { return }
        guard directory.accounts.has(connection.peer.user) else {
            // It is read briefly, so that it receives the answer.
            _ = try? connection.receive(.shortRequest, within: Self.firstRequestWithin)
            say(.refusal(.refused(.notEntitled)), to: connection)
            return
        }
        connections.serve(connection) { serve(program, caller, deputy) }
    }

    private func serve(
        _ program: ConnectedProgram, _ caller: Caller, _ deputy: DeputyConnection?
    ) {
        let connection = program.connection
        let turn = RequestTurns.Turn()
        var place = ClientCores.Place()
        var patience = Self.firstRequestWithin
        let machine = program.machine
        while let (message, share, descriptor) = receive(
            on: connection, caller.user, within: patience)
        {
            defer { withExtendedLifetime(share) {} }
            patience = Self.nextRequestWithin
            switch consume message {
            case .request(let verb, let context, let relay, let offersTerminal):
                // Reads take turns only while several users are connected: a lone user delays no
                // other. Writes take no turns, as writers that arrive together share a commit.
                let isRead = type(of: verb) == CopyMatching.self
                let takesTurn = users.areSeveral && isRead
                // Two turns on one core would leave another one idle, and what is no read may take long.
                if isRead, !takesTurn {
                    cores.follow(connection.process, &place)
                } else {
                    cores.release(&place)
                }
                if takesTurn { turns.begin(turn) }
                defer { if takesTurn { turns.end(turn) } }
                let goesOn =
                    relay != nil || deputy != nil
                    ? answer(verb, context, relay, descriptor, by: deputy, program, caller)
                    : answer(
                        verb,
                        for: client(program, caller, context, offersTerminal: offersTerminal),
                        on: connection)
                // Only a new connection of the program's leads to the machine's keychain again.
                guard goesOn, machine?.hasEnded != true else { return }
            case .registerPrompter(let showsWindows, let server):
                let shown = resolver.screen(of: caller, connection.process, server)
                let prompter = Prompter(
                    connection, at: shown?.place ?? .terminal(of: caller), shown?.screen,
                    drawsWindows: showsWindows, otherReader: resolver.looks.otherReader)
                serve(prompter: prompter, connection) { prompter throws(RequestError) in
                    // The prompter's turn is held meanwhile, so that no question is sent before
                    // `.registered`.
                    try prompter.take()
                    defer { prompter.giveBack() }
                    try prompters.register(prompter)
                    say(.registered, to: connection)
                }
                return
            case .attachPrompter(let challenge):
                let prompter = Prompter(
                    connection, at: .terminal(of: caller),
                    otherReader: resolver.looks.otherReader)
                serve(prompter: prompter, connection) { prompter throws(RequestError) in
                    try prompters.attach(prompter, challenge: challenge)
                }
                return
            case .promptReply: return
            }
        }
    }

    /// The program as a client, for one request.
    func client(
        _ program: ConnectedProgram, _ caller: Caller, _ context: AuthenticationContext?,
        offersTerminal: Bool
    ) -> RemoteClient {
        let process = program.connection.process
        let policy = service.policy.now
        var seen = resolver.look(at: caller, process)
        seen.caller = program.callerFacts.atHome(seen.caller, policy.reach)
        return RemoteClient(
            program, seen,
            resolver.sessionAttributes(
                seen.caller, process, runsRootsFile: program.facts?.runsRootsFile ?? false),
            context: context, prompterProgram: offersTerminal ? prompterProgram : nil,
            notes: notes(for: seen.caller))
    }

    private func notes(for caller: Caller) -> RequestNotes {
        RequestNotes(of: (caller, promptPlaces))
    }

    // MARK: Deputies

    /// Answers a message that comes on a deputy's connection or claims to be relayed. Returns false
    /// to end the connection, as after a descriptor that belongs to no `Introduce`.
    private func answer(
        _ verb: any Verb, _ context: AuthenticationContext?, _ relay: Relay?,
        _ descriptor: Descriptor?, by deputy: DeputyConnection?, _ program: ConnectedProgram,
        _ caller: Caller
    ) -> Bool {
        let connection = program.connection
        func own() -> RemoteClient {
            client(program, caller, relay == nil ? context : nil, offersTerminal: false)
        }
        guard let deputy else {
            return refuse(verb, .refused(.notEntitled), to: own(), on: connection)
        }
        let introduction = verb as? Introduce
        guard (descriptor != nil) == (introduction != nil), introduction == nil || relay == nil
        else {
            refuse(verb, .invalid(.badRequest), to: own(), on: connection)
            return false
        }
        do throws(RequestError) {
            if let relay {
                let client = try client(relay, context, by: deputy, program, caller)
                return answer(verb, for: client, on: connection)
            }
            if let introduction, let descriptor {
                let peer = try deputy.introduce(
                    introduction, descriptor, under: service.policy.now.reach)
                return say(.answer(peer, to: Introduce.self, continues: false), to: connection)
            }
            if let verb = verb as? ForgetPeer {
                deputy.forget(verb.peer)
                return say(.answer(Done(), to: ForgetPeer.self, continues: false), to: connection)
            }
            if let verb = verb as? WatchKeychains {
                let end = BootTime.now + Self.watchFor
                let changes = try service.changes.changes(
                    of: deputy.user, after: verb.position, for: deputy.process
                ) { connection.waits(for: $0, until: end) }
                return say(
                    .answer(changes, to: WatchKeychains.self, continues: false), to: connection)
            }
            return answer(verb, for: own(), on: connection)
        } catch { return refuse(verb, error, to: own(), on: connection) }
    }

    private func client(
        _ relay: Relay, _ context: AuthenticationContext?, by deputy: DeputyConnection,
        _ connected: ConnectedProgram, _ caller: Caller
    ) throws(RequestError) -> RelayedClient {
        let program = try deputy.program(relay)
        var seen = resolver.look(at: program.caller, program.process)
        seen.caller = program.callerFacts.atHome(seen.caller, service.policy.now.reach)
        return RelayedClient(
            program, by: connected, seen,
            resolver.sessionAttributes(
                seen.caller, program.process, broughtBy: caller, connected.connection.process,
                runsRootsFile: connected.facts?.runsRootsFile ?? false),
            relay, context: program.context(as: context), notes: notes(for: seen.caller))
    }

    @discardableResult
    func refuse(
        _ verb: any Verb, _ error: RequestError, to client: RemoteClient,
        on connection: ServerConnection
    ) -> Bool {
        service.recordRefusal(of: verb, to: client, error)
        return say(.refusal(error), to: connection)
    }

    /// Returns the next message with its share of the memory budget; nil where none comes or it
    /// can't be read. The peer is told the reason. Without `patience` it is waited for for ever.
    func receive(
        on connection: ServerConnection, _ user: UInt32, within patience: Duration?
    ) -> (message: ClientMessage, share: MemoryBudget.Share?, descriptor: Descriptor?)? {
        var share: MemoryBudget.Share?
        do {
            let frame = try connection.receive(.request, within: patience) {
                bytes throws(SocketError) in
                do { share = try memory.take(Self.room(for: bytes), for: user) } catch {
                    throw .noRoom
                }
            }
            let message = try ClientMessage(frame.message, secrets: frame.secrets)
            return (message, share, frame.descriptor)
        } catch let error as MessageError {
            refuse(error, connection)
        } catch SocketError.tooLarge {
            say(.refusal(.invalid(.dataTooLarge)), to: connection)
        } catch SocketError.noRoom {
            say(.refusal(.failed(.outOfMemory)), to: connection)
        } catch SocketError.newer {
            say(.refusal(.state(.olderService)), to: connection)
        } catch SocketError.older {
            say(.refusal(.state(.olderProgram)), to: connection)
        } catch {}
        return nil
    }

    private static func room(for frame: FrameLimits) -> Int {
        frame.secrets + frame.message * unfolding
    }

    /// Tells each side which of the two is older, and so what to update.
    private func refuse(_ error: MessageError, _ connection: ServerConnection) {
        switch error {
        case .malformed: say(.refusal(.invalid(.badRequest)), to: connection)
        case .newer: say(.refusal(.state(.olderService)), to: connection)
        case .older: say(.refusal(.state(.olderProgram)), to: connection)
        case .firstVersion:
            _ = try? connection.send(
                Frame(message: ServerMessage.refusalInFirstVersion, secrets: nil))
        }
    }

    func answer<V: Verb>(
        _ verb: V, for client: some Client, on connection: ServerConnection
    ) -> Bool {
        do throws(RequestError) {
            let last = try service.answer(verb, for: client) { part throws(RequestError) in
                guard say(.answer(part, toVerb: V.number, continues: true), to: connection) else {
                    throw .failed(.notAvailable)
                }
            }
            return say(.answer(last, toVerb: V.number, continues: false), to: connection)
        } catch {
            return say(.refusal(error, because: client.notes.words), to: connection)
        }
    }

    /// Serves a prompter. Only the prompter program, which its setgid group identifies, may answer
    /// questions.
    private func serve(
        prompter: Prompter, _ connection: ServerConnection,
        _ begin: (Prompter) throws(RequestError) -> Void
    ) {
        guard let group = InstalledProgram.setgidGroup(prompterProgram),
            connection.peer.group == group
        else {
            say(.refusal(.refused(.notEntitled)), to: connection)
            return
        }
        do throws(RequestError) { try begin(prompter) } catch {
            say(.refusal(error), to: connection)
            return
        }
        defer { prompters.unregister(prompter) }
        prompter.waitForEnd()
    }

    @discardableResult
    private func say(_ said: consuming ServerMessage, to connection: ServerConnection) -> Bool {
        let (message, secrets) = (consume said).encoded()
        return (try? connection.send(Frame(message: message, secrets: secrets))) != nil
    }
}

/// A connection, and the facts of its program when it was accepted. A class, as every step of a
/// request passes it on.
final class ConnectedProgram: Sendable {
    let connection: ServerConnection
    /// nil for a process that can't be identified, as one in another process namespace.
    let facts: ProcessFacts?
    let callerFacts: CallerFacts
    let looks: any ProcessLooks
    /// nil where the program does not reach the machine's keychain in another process.
    let machine: MachineKeychain?

    init(
        _ connection: ServerConnection, _ facts: ProcessFacts?, _ directory: CallerFacts.Directory,
        machine: MachineKeychain? = nil
    ) {
        self.connection = connection
        self.facts = facts
        self.machine = machine
        callerFacts = CallerFacts(
            connection.process, running: facts?.program, in: connection.peerGroups(),
            label: connection.peerLabel(), directory)
        looks = directory.looks
    }
}

/// A program at the other end of a socket, for one request.
final class RemoteClient: Client {
    let caller: Caller
    let logins: LiveLogins?
    let context: AuthenticationContext?
    /// A prompter that the client starts can read from the client's terminal only while the client
    /// is in its foreground. Evaluated where a question may be asked, as most requests ask none.
    var offersTerminal: Bool {
        prompterProgram != nil && connection.process?.isInForeground ?? false
    }
    private let program: ConnectedProgram
    private let sessionAttributes: SessionAttributes
    /// Shows a question on the client's terminal; nil where the client says that it has none.
    private let prompterProgram: String?
    let notes: RequestNotes
    var machine: (any MachineSearch)? { program.machine }

    private var connection: ServerConnection { program.connection }
    private var facts: ProcessFacts? { program.facts }

    /// `seen` is the state of the user's logins when the request came.
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

    /// The process with the executable that it ran when it connected; `isUnchanged` looks again
    /// before the answer.
    var process: ProofOrigin.Process? {
        connection.process.flatMap { ProofOrigin.Process($0, running: facts?.executable) }
    }

    func terminal() -> ProofOrigin.Terminal? {
        connection.process.flatMap(ProofOrigin.Terminal.init)
    }

    func descends(from process: ProofOrigin.Process) -> Bool {
        connection.process.map { process.isAncestor(of: $0, program.looks) } ?? false
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
        program.callerFacts.toTell(policyFacts(.toldAtOnce), of: caller)
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
