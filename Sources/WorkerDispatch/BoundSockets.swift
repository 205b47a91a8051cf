// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainLocalSocket
internal import ProcessBroker

/// Connections to keychain-broker or keychain-starter, for workers. Both know keychaind by the
/// program it runs, hear it alone, and do on a connection what is the user's whom keychaind names
/// first: a worker that gets it can name no other one.
package struct BoundSockets: Sendable {
    /// Seconds for the reply. A process that is started by its first connection takes longer than
    /// one that is there.
    private static let patience = 2.0
    private static let longestReply = 64

    private let path: String
    private let request: @Sendable (_ user: UInt32) -> [UInt8]
    private let isDone: @Sendable (_ reply: [UInt8]) -> Bool

    /// `request` gives the record that names the user, `isDone` tells whether the reply says that
    /// the connection is that user's.
    package init(
        path: String, request: @escaping @Sendable (_ user: UInt32) -> [UInt8],
        isDone: @escaping @Sendable (_ reply: [UInt8]) -> Bool
    ) {
        self.path = path
        self.request = request
        self.isDone = isDone
    }

    /// Those to keychain-broker.
    package static func broker(path: String) -> BoundSockets {
        BoundSockets(path: path, request: BrokerBinding.request, isDone: BrokerBinding.isDone)
    }

    /// A new connection for the user. Waits two seconds for each of connection and reply.
    func connection(for user: UInt32) throws(SocketError) -> Descriptor {
        let connection = try RecordConnection(path: path)
        try connection.send(request(user), passing: [])
        let reply = try connection.receive(
            limit: Self.longestReply, deadlineSeconds: Self.patience)
        guard isDone(reply) else { throw .peerNotAllowed }
        return connection.descriptor
    }
}
