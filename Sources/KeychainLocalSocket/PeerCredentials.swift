// SPDX-License-Identifier: Apache-2.0
package import KeychainLinuxSystem
internal import CKeychainLinux
internal import Glibc

/// Who connected, as the kernel recorded it at that moment.
package struct PeerCredentials: Sendable, Equatable {
    package let pid: Int32
    package let user: UInt32
    package let group: UInt32

    package init(pid: Int32, user: UInt32, group: UInt32) {
        self.pid = pid
        self.user = user
        self.group = group
    }

    /// Of the other end of a connected socket.
    package init(of descriptor: Descriptor) throws(SocketError) {
        var peer = kc_sender()
        // Safe: writes the structure it is given.
        guard unsafe kc_peer_credentials(descriptor.number, &peer) == 0 else {
            throw .system(errno)
        }
        self.init(pid: peer.pid, user: peer.uid, group: peer.gid)
    }

    func isSame(as sender: kc_sender) -> Bool {
        sender.known != 0 && sender.pid == pid && sender.uid == user && sender.gid == group
    }
}
