// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainLocalSocket
internal import KeychainMessages
internal import KeychainModel
internal import KeychainRequestAudit
internal import KeychainUserPresence
internal import Synchronization

/// The machine's keychain, which root's worker has open, for one program of another user
/// (docs/design/system-keychain.md, In one process).
///
/// Root's worker serves one end of a pair of sockets as the connection of that program; this is the
/// other end. One thread at a time speaks on it.
final class MachineKeychain: MachineSearch {
    /// How long root's worker, which may just be starting, has time to greet.
    private static let greetsWithin: Duration = .seconds(20)
    /// The longest silence of root's worker. It puts no question to any user.
    private static let answersWithin = Duration.seconds(90)

    private enum State: Sendable {
        case unused(Descriptor)
        case idle(ClientConnection)
        /// In use, or over for good.
        case gone
    }
    private let state: Mutex<State>

    init(_ descriptor: Descriptor) { state = Mutex(.unused(descriptor)) }

    /// Whether the connection is over, and no request is under way.
    var hasEnded: Bool {
        state.withLock { state in
            if case .gone = state { true } else { false }
        }
    }

    func ask<V: Verb>(
        _ verb: V, for client: any Client, _ part: (V.Answer) throws(RequestError) -> Void
    ) throws(RequestError) {
        let connection = try take()
        let (message, secrets) = ClientMessage.encode(
            verb, context: client.context, offersTerminal: false)
        do throws(SocketError) {
            try connection.send(Frame(message: message, secrets: secrets))
        } catch { throw .failed(.notAvailable) }
        var continues = true
        while continues {
            switch try hear(connection) {
            case .answer(let answer):
                // After an answer that can't be read, or that the client does not take, its rest
                // would be taken for the next one: the connection is not used again.
                guard let decoded = try? answer.decoded(to: V.self) else {
                    throw .failed(.notAvailable)
                }
                continues = answer.continues
                if !continues { giveBack(connection) }
                try part(decoded)
            case .refusal(let refusal, let rules):
                giveBack(connection)
                client.notes.note(rules: rules)
                throw refusal
            case .needsPrompter, .prompt, .registered: throw .failed(.notAvailable)
            }
        }
    }

    private func hear(_ connection: ClientConnection) throws(RequestError) -> ServerMessage {
        guard
            let frame = try? connection.receive(.answer, within: Self.answersWithin),
            let message = try? ServerMessage(frame.message, secrets: frame.secrets)
        else { throw .failed(.notAvailable) }
        return message
    }

    private func take() throws(RequestError) -> ClientConnection {
        let taken = state.withLock { state in
            let taken = state
            state = .gone
            return taken
        }
        switch taken {
        case .idle(let connection) where !connection.peerHungUp(): return connection
        case .unused(let descriptor):
            do {
                return try ClientConnection(
                    over: descriptor, greetedWithin: Self.greetsWithin)
            } catch { throw .failed(.notAvailable) }
        case .idle, .gone: throw .failed(.notAvailable)
        }
    }

    private func giveBack(_ connection: ClientConnection) {
        state.withLock { $0 = .idle(connection) }
    }
}
