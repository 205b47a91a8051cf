// SPDX-License-Identifier: Apache-2.0
internal import AccessControl
internal import Foundation
internal import KeychainMessages
internal import KeychainModel
internal import LocalSocket

/// Serves the public socket: one thread a connection, a limited number of them.
public final class RequestServer: Sendable {
    private let listener: Listener
    private let service: KeychainService
    private let resolver: CallerResolver
    private let prompters: PrompterRegistry
    private let prompterProgram: String
    private let limits = ConnectionLimits()

    init(
        _ listener: Listener, service: KeychainService, resolver: CallerResolver,
        prompters: PrompterRegistry, prompterProgram: String
    ) {
        self.listener = listener
        self.service = service
        self.resolver = resolver
        self.prompters = prompters
        self.prompterProgram = prompterProgram
    }

    /// Returns when the listener is shut down.
    public func run() {
        while true {
            let descriptor: Descriptor
            do { descriptor = try listener.accept() } catch {
                if error == .closed { return }
                continue
            }
            let thread = Thread { [self] in welcome(descriptor) }
            thread.stackSize = 512 * 1024
            thread.start()
        }
    }

    private func welcome(_ descriptor: Descriptor) {
        guard let user = ServerConnection.user(of: descriptor), limits.begin(user) else { return }
        defer { limits.end(user) }
        guard let connection = try? ServerConnection(descriptor) else { return }
        let facts = connection.process.map(ProcessFacts.init)
        let caller = resolver.resolve(connection)
        // Only now: a peer that knows the nonce may have spoken and become another program.
        guard (try? connection.greet()) != nil else { return }
        serve(connection, caller, facts)
    }

    private func serve(_ connection: ServerConnection, _ caller: Caller, _ facts: ProcessFacts?) {
        while true {
            let words: ClientWords
            do {
                let frame = try connection.receive(.request)
                words = try ClientWords(frame.message, secrets: frame.secrets)
            } catch MessageError.malformed, MessageError.secretsDoNotFit {
                say(.refusal(.badRequest), to: connection)
                return
            } catch SocketError.tooLarge {
                say(.refusal(.dataTooLarge), to: connection)
                return
            } catch { return }
            switch words {
            case .request(let request, let offersTerminal):
                let asker = ConnectedAsker(
                    resolver.refreshed(caller, connection), connection, facts: facts,
                    offersTerminal: offersTerminal, prompterProgram: prompterProgram)
                guard answer(request, for: asker, on: connection) else { return }
            case .registerPrompter:
                serve(prompter: Prompter(connection), caller, connection) {
                    prompter throws(Refusal) in
                    try prompters.register(prompter, for: caller)
                } welcome: {
                    say(.answer(Answer(), continues: false), to: connection)
                }
                return
            case .attachPrompter(let challenge):
                serve(prompter: Prompter(connection), caller, connection) {
                    prompter throws(Refusal) in
                    try prompters.attach(prompter, challenge: challenge, for: caller)
                } welcome: {
                }
                return
            case .promptReply: return
            }
        }
    }

    private func answer(
        _ request: Request, for asker: ConnectedAsker, on connection: ServerConnection
    ) -> Bool {
        do throws(Refusal) {
            let last = try service.answer(request, for: asker) { part throws(Refusal) in
                guard say(.answer(part, continues: true), to: connection) else {
                    throw .notAvailable
                }
            }
            return say(.answer(last, continues: false), to: connection)
        } catch { return say(.refusal(error), to: connection) }
    }

    /// Who may answer questions: the program that the group belongs to, and no other.
    private func serve(
        prompter: Prompter, _ caller: Caller, _ connection: ServerConnection,
        _ begin: (Prompter) throws(Refusal) -> Void, welcome: () -> Void
    ) {
        guard let group = InstalledProgram.setgidGroup(prompterProgram),
            connection.peer.group == group
        else {
            say(.refusal(.notEntitled), to: connection)
            return
        }
        // Its turn is held meanwhile, so that no question comes before the welcome.
        _ = prompter.tryTaking()
        do throws(Refusal) { try begin(prompter) } catch {
            say(.refusal(error), to: connection)
            return
        }
        welcome()
        prompter.giveBack()
        defer { prompters.unregister(prompter) }
        while prompter.isAlive { Thread.sleep(forTimeInterval: 0.25) }
    }

    @discardableResult
    private func say(_ words: DaemonWords, to connection: ServerConnection) -> Bool {
        let (message, secrets) = words.encoded()
        return (try? connection.send(Frame(message: message, secrets: secrets))) != nil
    }
}
