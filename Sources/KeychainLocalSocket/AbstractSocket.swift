// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem

/// A listening socket with an abstract name: no other process can take the name while one holds it.
package enum AbstractSocket {
    /// The process that listens on the name, as the kernel says; nil without a living one.
    package static func listener(_ name: String) -> PeerCredentials? {
        guard let descriptor = try? SocketAddress.connectAtOnce(to: [0] + Array(name.utf8)),
            let peer = try? PeerCredentials(of: descriptor),
            // The socket of an ended process may be held by another one, while the number is free
            // to be reused.
            ServerConnection.pinned(peer.pid, descriptor) != nil
        else { return nil }
        return peer
    }
}
