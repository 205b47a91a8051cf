// SPDX-License-Identifier: Apache-2.0
package import KeychainMessages
package import KeychainModel
internal import KeychainLinuxSystem
internal import KeychainLocalSocket
internal import Synchronization

/// The keychain behind the daemon's socket. Safe to use from several threads: each request takes a
/// connection of its own from a small pool.
package final class RemoteKeychain: KeychainEndpoint {
    package static let defaultSocket = "/run/keychain/keychain.sock"
    private static let mostIdleConnections = 4

    private let socket: String
    private let idle = Mutex<[ClientConnection]>([])
    private let lastBecause = Mutex<[String]>([])

    package var rulesOfLastRefusal: [String] { lastBecause.withLock { $0 } }

    package init(socket: String) { self.socket = socket }

    package func send<V: Verb>(
        _ verb: V, in context: AuthenticationContext?, cancellation: Cancellation?
    ) throws(RequestError) -> V.Answer {
        try send(verb, in: context, relay: nil, cancellation: cancellation)
    }

    /// Sends a verb for a deputy's peer, or with the descriptor that the verb is about.
    func send<V: Verb>(
        _ verb: V, in context: AuthenticationContext?, relay: Relay?,
        passing descriptor: Descriptor? = nil, cancellation: Cancellation?
    ) throws(RequestError) -> V.Answer {
        func answer(on connection: ClientConnection) throws(Conversation.Failure) -> V.Answer {
            let conversation = Conversation(connection, socket: socket)
            let answer: V.Answer
            if let cancellation {
                answer = try cancellation.whileWaiting({ connection.shutDown() }) {
                    () throws(Conversation.Failure) in
                    try conversation.answer(
                        to: verb, in: context, relay: relay, passing: descriptor)
                }
            } else {
                answer = try conversation.answer(
                    to: verb, in: context, relay: relay, passing: descriptor)
            }
            // A connection that was shut down meanwhile can't be used again.
            if cancellation?.isCancelled != true { giveBack(connection) }
            return answer
        }
        if let idle = takeIdle() {
            do throws(Conversation.Failure) { return try answer(on: idle) } catch {
                // The daemon may have ended it since, as where it restarts.
                guard case .unsent = error, cancellation?.isCancelled != true else {
                    throw refusal(error, on: idle, cancellation)
                }
            }
        }
        let connection = try connect(cancellation)
        do throws(Conversation.Failure) { return try answer(on: connection) } catch {
            throw refusal(error, on: connection, cancellation)
        }
    }

    /// After an error the state of the connection is unknown, so it is not used again; a refusal is
    /// an answer.
    private func refusal(
        _ error: Conversation.Failure, on connection: ClientConnection,
        _ cancellation: Cancellation?
    ) -> RequestError {
        guard case .ended(let refusal, let rules) = error else { return .failed(.notAvailable) }
        lastBecause.withLock { $0 = rules }
        if cancellation?.isCancelled != true { giveBack(connection) }
        return refusal
    }

    /// Sends the verb without waiting; nil where the first idle connection does not take it.
    func begin<V: Verb>(
        _ verb: V, in context: AuthenticationContext?, relay: Relay
    ) -> PendingAnswer<V>? {
        guard let connection = takeIdle() else { return nil }
        let conversation = Conversation(connection, socket: socket)
        // A part of a request that the daemon received is no whole request, and ends with the
        // connection.
        guard (try? conversation.begin(verb, in: context, relay: relay)) != nil else { return nil }
        return PendingAnswer(on: connection) { [self] () throws(RequestError) in
            let answer: V.Answer
            do throws(Conversation.Failure) { answer = try conversation.answer(to: V.self) } catch {
                throw refusal(error, on: connection, nil)
            }
            giveBack(connection)
            return answer
        }
    }

    /// A connection of this process that is not used now. The daemon may have ended it.
    private func takeIdle() -> ClientConnection? {
        while let connection = idle.withLock({ $0.popLast() }) {
            if connection.belongsToThisProcess { return connection }
        }
        return nil
    }

    /// A new connection. The listener must be root's: an environment may name another socket, and
    /// text typed into this program must reach only the daemon.
    private func connect(
        _ cancellation: Cancellation?
    ) throws(RequestError) -> ClientConnection {
        do {
            return try ClientConnection(path: socket, requiredPeer: 0) {
                shutDown, wait throws(SocketError) in
                guard let cancellation else { return try wait() }
                try cancellation.whileWaiting(shutDown, wait)
            }
        } catch {
            guard case .ended(let refusal, _) = Conversation.Failure(error) else {
                throw .failed(.notAvailable)
            }
            throw refusal
        }
    }

    private func giveBack(_ connection: ClientConnection) {
        idle.withLock { if $0.count < Self.mostIdleConnections { $0.append(connection) } }
    }
}
