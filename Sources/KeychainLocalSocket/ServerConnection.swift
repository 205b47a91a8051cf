// SPDX-License-Identifier: Apache-2.0
package import KeychainLinuxSystem
internal import CKeychainLinux
internal import Glibc
internal import KeychainSecrets

/// The daemon's end of a connection. All facts about the peer are read from the kernel before the
/// first byte; afterwards only that very process may speak.
package final class ServerConnection: @unchecked Sendable {

    package let peer: PeerCredentials
    /// nil when the process could not be pinned: it has ended, or is in another pid namespace.
    package let process: PinnedProcess?

    /// NGROUPS_MAX is 65,536; a user has a few.
    private static let mostGroups = 4096

    private let descriptor: Descriptor
    private let stream: FrameStream
    private let nonce: [UInt8]
    /// What the peer's own socket told of it, where the frames come over another one.
    private let told: PeerFacts?

    package init(_ descriptor: Descriptor) throws(SocketError) {
        self.descriptor = descriptor
        try Self.hearWhoSpeaks(on: descriptor)
        peer = try PeerCredentials(of: descriptor)
        process = Self.pinned(peer.pid, descriptor)
        nonce = RandomBytes.make(FrameHeader.nonceBytes)
        // As a rule the client that an answer wakes takes the core at once, and has sent its next request
        // before this thread waits.
        stream = FrameStream(descriptor, sender: peer, waitsInReceive: true, nonce: nonce)
        told = nil
    }

    /// The connection of a program that another process speaks for: over one end of a pair of
    /// sockets, whose other end that process was given. The peer is the one of the program's own
    /// socket, which is read here and not kept: a copy that is kept would leave the program waiting
    /// for the end of its connection.
    ///
    /// The kernel names the maker of the pair as its peer, and not the process that was given the
    /// other end. So the first process that speaks stays the only one.
    package init(_ descriptor: Descriptor, peerOf original: Descriptor) throws(SocketError) {
        self.descriptor = descriptor
        try Self.hearWhoSpeaks(on: descriptor)
        _ = kc_refuse_descriptors(descriptor.number)
        peer = try PeerCredentials(of: original)
        process = Self.pinned(peer.pid, original)
        told = PeerFacts(
            groups: Self.groups(ofPeerOf: original, peer.group), label: Self.label(of: original))
        nonce = RandomBytes.make(FrameHeader.nonceBytes)
        stream = FrameStream(
            descriptor, sender: nil, keepsFirst: true, waitsInReceive: true, nonce: nonce)
    }

    /// What the kernel says of a peer besides its process and user.
    private struct PeerFacts {
        let groups: [UInt32]?
        let label: String?
    }

    /// Has the kernel name the sender of all that is received from now on.
    private static func hearWhoSpeaks(on descriptor: Descriptor) throws(SocketError) {
        var yes: Int32 = 1
        // Safe: reads one Int32.
        guard
            unsafe setsockopt(
                descriptor.number, SOL_SOCKET, SO_PASSCRED, &yes,
                socklen_t(MemoryLayout<Int32>.size)) == 0
        else { throw .system(errno) }
    }

    /// Sends the nonce, without which the peer can't send anything. The peer must be identified
    /// before this: afterwards it may have spoken, and executed another program.
    package func greet() throws(SocketError) {
        let hello = Hello(nonce: nonce).bytes
        // Safe: sends the array's own bytes.
        let sent = unsafe hello.withUnsafeBytes {
            unsafe kc_send(descriptor.number, $0.baseAddress, $0.count, nil, 0, nil)
        }
        guard sent == hello.count else { throw .closed }
    }

    /// Lets the peer pass a descriptor with a frame from now on. Must be called before `greet`.
    package func takeDescriptors() throws(SocketError) {
        guard kc_accept_descriptors(descriptor.number) == 0 else { throw .system(errno) }
        stream.takeDescriptors()
    }

    /// The process that connected. Where the kernel gives no descriptor of it, the process that has
    /// its number is opened: while that one lives, no other can speak under the number.
    static func pinned(_ pid: Int32, _ descriptor: Descriptor) -> PinnedProcess? {
        let pidfd = kc_peer_pidfd(descriptor.number)
        if pidfd >= 0 { return PinnedProcess(pid: pid, pidfd: Descriptor(owning: pidfd)) }
        return errno == ENOPROTOOPT ? PinnedProcess(pid: pid, pidfd: nil) : nil
    }

    /// The peer's label: for AppArmor the process's, as most kernels keep none with the socket; for
    /// SELinux the socket's, which needs no permission to look at processes.
    package func peerLabel() -> SecurityLabel {
        let ofProcess = process?.securityLabel() ?? .unreadable
        if case .appArmor = ofProcess { return ofProcess }
        let ofSocket: String? = if let told { told.label } else { Self.label(of: descriptor) }
        return ofSocket.map { .selinux($0) } ?? ofProcess
    }

    /// The peer's group and further groups when it connected; nil where the kernel does not tell.
    package func peerGroups() -> [UInt32]? {
        if let told { return told.groups }
        return Self.groups(ofPeerOf: descriptor, peer.group)
    }

    private static func groups(ofPeerOf descriptor: Descriptor, _ group: UInt32) -> [UInt32]? {
        var groups = [UInt32](repeating: 0, count: mostGroups)
        var length = socklen_t(groups.count * MemoryLayout<UInt32>.size)
        // Safe: the kernel writes at most `length` bytes.
        guard
            unsafe getsockopt(descriptor.number, SOL_SOCKET, SO_PEERGROUPS, &groups, &length) == 0
        else { return nil }
        return [group] + groups.prefix(Int(length) / MemoryLayout<UInt32>.size)
    }

    /// What the kernel's security module calls the peer of a socket; nil where it keeps no label with it.
    package static func label(of descriptor: Descriptor) -> String? {
        // As long as the kernel allows: a program with a label longer than the buffer would be
        // treated as unlabelled, and get another name.
        var length: socklen_t = 4096
        var label = [UInt8](repeating: 0, count: Int(length))
        // Safe: the kernel writes at most `length` bytes.
        guard
            unsafe getsockopt(descriptor.number, SOL_SOCKET, SO_PEERSEC, &label, &length) == 0
        else { return nil }
        let text = label.prefix(Int(length)).prefix { $0 != 0 }
        return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
    }

    /// Waits for a frame; once it has begun, it must be complete within five seconds. `admit` gets
    /// its size before memory is allocated for it.
    package func receive(
        _ limits: FrameLimits, within timeout: Duration? = nil,
        admit: (FrameLimits) throws(SocketError) -> Void = { _ in }
    ) throws(SocketError) -> Frame {
        try stream.receive(limits, within: timeout, admit: admit)
    }

    package func send(_ frame: Frame) throws(SocketError) { try stream.send(frame) }

    /// Whether the peer has sent more than was read; reads nothing.
    package var hasUnread: Bool { stream.hasUnread }

    /// Whether the peer has closed its end; reads nothing.
    package func peerHungUp() -> Bool { kc_hung_up(descriptor.number) != 0 }

    /// Returns true once `wake` is woken; false where before that the peer sends something or
    /// closes its end, or the time is over.
    package func waits(for wake: Wake, until deadline: BootTime) -> Bool {
        try? Wait.until(Wait.input, wake.number, or: descriptor.number, deadline: deadline)
        return wake.isWoken
    }

    /// Returns when the peer has closed its end, or the process has ended.
    package func waitForHangUp(orEndOf process: PinnedProcess?) {
        kc_wait_for_hang_up(descriptor.number, process?.pidfdNumber ?? -1)
    }

    /// Receives nothing more than what has arrived. A thread that waits for a message gets the end
    /// of the connection; answers are still sent.
    package func endReceiving() { _ = Glibc.shutdown(descriptor.number, Int32(SHUT_RD)) }

    /// Ends the connection for both sides, also for a thread that waits on it.
    package func shutDown() { _ = Glibc.shutdown(descriptor.number, Int32(SHUT_RDWR)) }
}

/// The peer's process, user and group as the kernel recorded them when it connected.
package struct PeerCredentials: Sendable, Equatable {
    package let pid: Int32
    package let user: UInt32
    package let group: UInt32

    package init(pid: Int32, user: UInt32, group: UInt32) {
        self.pid = pid
        self.user = user
        self.group = group
    }

    /// The credentials of the other end of a connected socket.
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
