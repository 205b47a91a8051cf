// SPDX-License-Identifier: Apache-2.0
internal import AuditHandoff
package import KeychainLinuxSystem
package import KeychainLocalSocket
internal import Synchronization

/// Connections to keychain-audit, one for each user. keychain-audit knows keychaind by the program it
/// runs, hears it alone, and takes a user's records from the connection that keychaind gives it for that
/// user.
package final class AuditSockets: Sendable {
    private let path: String
    private let control = Mutex<RecordConnection?>(nil)

    package init(path: String) { self.path = path }

    private static let patience: Duration = .seconds(2)

    /// A new connection for the user's records.
    package func connection(for user: UInt32) throws(SocketError) -> Descriptor {
        let (own, other) = try SocketPair.ofRecords()
        // keychain-audit would close what came, in the one thread that serves all users.
        RecordConnection(other).refuseDescriptors()
        let connection = try connected()
        do throws(SocketError) { try pass(other, user, on: connection) } catch {
            // A keychain-audit that is busy has not ended.
            guard error != .timedOut else { throw error }
            // It has ended since. Another thread may have reached the next one by now.
            control.withLock { if $0 === connection { $0 = nil } }
            try pass(other, user, on: connected())
        }
        return own
    }

    private func pass(
        _ socket: Descriptor, _ user: UInt32, on connection: RecordConnection
    ) throws(SocketError) {
        try connection.send(LineRecord.serve(user), passing: socket, within: Self.patience)
    }

    /// One at a time: keychain-audit hears one connection.
    private func connected() throws(SocketError) -> RecordConnection {
        try control.withLock { control throws(SocketError) in
            if let control { return control }
            let new = try RecordConnection(path: path)
            control = new
            return new
        }
    }
}
