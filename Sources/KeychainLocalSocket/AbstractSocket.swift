// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem

/// A listening socket whose name is no file's: no other process can take the name while one holds
/// it.
package enum AbstractSocket {
    /// The process that listens there, by the kernel's word; nil without one that is alive.
    package static func listener(_ name: String) -> PeerCredentials? {
        guard let descriptor = try? SocketAddress.connect(abstract: name),
            let peer = try? PeerCredentials(of: descriptor),
            // Another process may hold the socket of one that has ended, whose number is free.
            ServerConnection.pinned(peer.pid, descriptor) != nil
        else { return nil }
        return peer
    }
}
