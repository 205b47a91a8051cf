// SPDX-License-Identifier: Apache-2.0
package import KeychainLinuxSystem
internal import CKeychainLinux
internal import Glibc

/// A connection to a socket of root's that carries whole records: each call receives what one call
/// sent.
package final class RecordConnection: Sendable {
    private static let connectSeconds = 2.0

    /// For another process, which then has the connection, too.
    package let descriptor: Descriptor

    package init(path: String) throws(SocketError) {
        descriptor = try SocketAddress.connect(
            path, .now + .seconds(Self.connectSeconds), SOCK_SEQPACKET)
        guard try PeerCredentials(of: descriptor).user == 0 else { throw .peerNotAllowed }
    }

    /// The server's end. The other one may pass a descriptor with each record.
    package init(accepted descriptor: Descriptor) throws(SocketError) {
        self.descriptor = descriptor
        guard kc_accept_descriptors(descriptor.number) == 0 else { throw .system(errno) }
    }

    /// One end of a connection that another process made.
    package init(_ descriptor: Descriptor) { self.descriptor = descriptor }

    /// Lets the other end pass a descriptor with each record.
    package func takeDescriptors() throws(SocketError) {
        guard kc_accept_descriptors(descriptor.number) == 0 else { throw .system(errno) }
    }

    /// Has the kernel refuse what the other end passes, where the kernel can (Linux 6.16).
    package func refuseDescriptors() { _ = kc_refuse_descriptors(descriptor.number) }

    /// Sends the record, with a descriptor if there is one, as soon as there is room for it.
    package func send(
        _ record: [UInt8], passing passed: Descriptor?, within time: Duration
    ) throws(SocketError) {
        let deadline = BootTime.now + time
        while try !offer(record, passing: passed) {
            try descriptor.wait(for: POLLOUT, until: deadline)
        }
    }

    /// Sends the record, with a descriptor if there is one, where there is room for it now; else
    /// returns false.
    package func offer(
        _ record: [UInt8], passing passed: Descriptor?
    ) throws(SocketError) -> Bool {
        let numbers = passed.map { [$0.number] } ?? []
        defer { withExtendedLifetime(passed) {} }
        // Safe: sends the array's own bytes, and the descriptor is open until the call returns.
        let sent = unsafe record.withUnsafeBytes {
            unsafe kc_send_passing_all(
                descriptor.number, $0.baseAddress, $0.count, numbers, numbers.count)
        }
        if sent == record.count { return true }
        // The kernel passes no more descriptors while too many are on their way.
        guard sent < 0, errno == EAGAIN || errno == ETOOMANYREFS else { throw .closed }
        return false
    }

    /// Sends the record. The other end gets copies of the descriptors, two at most.
    package func send(_ record: [UInt8], passing passed: [Descriptor]) throws(SocketError) {
        let numbers = passed.map(\.number)
        defer { withExtendedLifetime(passed) {} }
        // Safe: sends the array's own bytes, and the descriptors are open until the call returns.
        let sent = unsafe record.withUnsafeBytes {
            unsafe kc_send_passing_all(
                descriptor.number, $0.baseAddress, $0.count, numbers, numbers.count)
        }
        guard sent == record.count else { throw .closed }
    }

    /// Sends the record where there is room for it now, else returns false.
    package func offer(_ record: [UInt8]) throws(SocketError) -> Bool {
        // Safe: sends the array's own bytes, and borrows the descriptor.
        let sent = unsafe record.withUnsafeBytes {
            unsafe Glibc.send(
                descriptor.number, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
        }
        if sent == record.count { return true }
        guard sent < 0, errno == EAGAIN else { throw .closed }
        return false
    }

    /// Throws `.closed` when the other end has gone, `.tooLarge` for a record of more than `limit`
    /// bytes.
    package func receive(limit: Int, deadlineSeconds: Double) throws(SocketError) -> [UInt8] {
        // Looked at before the deadline, which may be now.
        if !Wait.isReady(Wait.input, descriptor.number) {
            try descriptor.wait(for: POLLIN, until: .now + .seconds(deadlineSeconds))
        }
        var record = [UInt8](repeating: 0, count: limit + 1)
        // Safe: receives at most the array's length.
        let count = unsafe record.withUnsafeMutableBytes {
            unsafe recv(descriptor.number, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT))
        }
        guard count > 0 else { throw .closed }
        guard count <= limit else { throw .tooLarge }
        return Array(record.prefix(count))
    }

    /// Waits for a record, without a deadline as long as the other end likes, and for the descriptor that
    /// may come with it. Throws `.closed` when the other end has gone or the record is longer than `limit`
    /// bytes.
    package func receivePassed(
        limit: Int, within time: Duration? = nil
    ) throws(SocketError) -> (record: [UInt8], passed: Descriptor?) {
        let (record, passed) = try receiveNumber(limit: limit, within: time)
        return (record, passed.map { Descriptor(owning: $0) })
    }

    /// The same, with a descriptor that is the caller's to close.
    package func receiveNumber(
        limit: Int, within time: Duration? = nil
    ) throws(SocketError) -> (record: [UInt8], passed: Int32?) {
        if let time { try descriptor.wait(for: POLLIN, until: .now + time) }
        var record = [UInt8](repeating: 0, count: limit)
        var passed: Int32 = -1
        var count = 0
        repeat {
            // Safe: receives at most the array's length, and the descriptor has an owner at once.
            count = unsafe record.withUnsafeMutableBytes {
                unsafe kc_receive_one(descriptor.number, $0.baseAddress, $0.count, &passed)
            }
        } while count < 0 && errno == EINTR
        guard count > 0 else { throw .closed }
        return (Array(record.prefix(count)), passed < 0 ? nil : passed)
    }

    /// Ends the connection for both sides, also for a thread that waits on it.
    package func hangUp() { _ = shutdown(descriptor.number, Int32(SHUT_RDWR)) }
}
