// SPDX-License-Identifier: Apache-2.0
internal import AccountDatabase
internal import CallerIdentity
package import KeychainLinuxSystem
internal import KeychainLocalSocket
internal import KeychainMessages
internal import KeychainModel
internal import Synchronization

/// Programs of other users that ask for the machine's keychain: each user's own worker speaks for
/// them, over one end of a pair of sockets (docs/design/system-keychain.md, In one process).
extension RequestServer {
    private static let relayedStackBytes = 512 * 1024

    /// Serves one end of a pair of sockets as the connection of the program whose own socket
    /// `original` is, in a thread of its own. That socket is read now, and not kept. Where there is
    /// no room for the connection, the pair is closed.
    package func serveRelayed(_ pair: Descriptor, peerOf original: Descriptor) {
        guard let peer = try? PeerCredentials(of: original), relayed.begin(peer.user) else {
            return
        }
        let hasBegun: Bool
        if let connection = try? ServerConnection(pair, peerOf: original) {
            hasBegun = DetachedThread.start(stackBytes: Self.relayedStackBytes) { [self] in
                defer { relayed.end(peer.user) }
                welcomeRelayed(connection)
            }
        } else {
            hasBegun = false
        }
        if !hasBegun { relayed.end(peer.user) }
    }

    private func welcomeRelayed(_ connection: ServerConnection) {
        guard directory.accounts.has(connection.peer.user) else { return }
        var facts: ProcessFacts?
        if let process = connection.process {
            facts = ProcessFacts(process, resolver.looks)
            guard facts != nil else { return }
        }
        let program = ConnectedProgram(connection, facts, directory)
        let caller = resolver.resolve(connection, running: program.facts?.program)
        guard (try? connection.greet()) != nil else { return }
        connections.serve(connection) { serveRelayed(program, caller) }
    }

    /// The other worker asks only when its program wants something of the machine's keychain, and
    /// closes its end with the program's connection: so each message is waited for for ever.
    private func serveRelayed(_ program: ConnectedProgram, _ caller: Caller) {
        let connection = program.connection
        while let (message, share, _) = receive(on: connection, caller.user, within: nil) {
            defer { withExtendedLifetime(share) {} }
            guard case .request(let verb, let context, let relay, _) = message else { return }
            // The program's terminal is not offered: nothing is asked here.
            let client = client(program, caller, context, offersTerminal: false)
            let goesOn =
                relay == nil && RelayedConnections.mayCarry(verb)
                ? answer(verb, for: client, on: connection)
                : refuse(verb, .refused(.notEntitled), to: client, on: connection)
            guard goesOn else { return }
        }
    }
}

/// The connections of programs for which other workers speak, counted by the program's user.
final class RelayedConnections: Sendable {
    static let mostForUser = 32
    static let mostInAll = 256

    private let open = Mutex<[UInt32: Int]>([:])

    var count: Int { open.withLock { $0.values.reduce(0, +) } }

    /// Counts a connection. False where there is no room for it.
    func begin(_ user: UInt32) -> Bool {
        open.withLock { open in
            let mine = open[user, default: 0]
            guard mine < Self.mostForUser, open.values.reduce(0, +) < Self.mostInAll else {
                return false
            }
            open[user] = mine + 1
            return true
        }
    }

    func end(_ user: UInt32) {
        open.withLock { open in
            let rest = open[user, default: 0] - 1
            open[user] = rest > 0 ? rest : nil
        }
    }

    /// Searches of the machine's keychain, by its name, and the word on how it is.
    static func mayCarry(_ verb: any Verb) -> Bool {
        switch verb {
        case is Status: true
        case let verb as CopyMatching: verb.query.keychain == KeychainName.system.description
        default: false
        }
    }
}
