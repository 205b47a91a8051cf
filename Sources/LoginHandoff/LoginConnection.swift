// SPDX-License-Identifier: Apache-2.0
internal import CKeychainLinux
internal import Glibc
package import KeychainLinuxSystem
internal import KeychainLocalSocket
internal import KeychainSecrets

/// The daemon's end of a connection from the PAM module: one request, one reply.
///
/// Its owner checks `peerUser` to decide whether to read from it at all.
package final class LoginConnection: Sendable {
    /// The longest time that a peer may take to send its request, and to read the answer.
    static let timeout = Duration.seconds(2)
    private static let pauseMilliseconds: UInt32 = 5

    private let descriptor: Descriptor
    /// From the kernel, at the moment of the connection.
    package let peerUser: UInt32
    /// From the kernel, at the moment of the connection. The leader of a session must be this
    /// process.
    package let peerProcess: Int32
    /// Whether the kernel lets the peer send descriptors.
    private let mayBringDescriptors: Bool

    package init(_ descriptor: Descriptor) throws(LoginHandoffError) {
        let peer: PeerCredentials
        do { peer = try PeerCredentials(of: descriptor) } catch { throw LoginHandoffError(error) }
        self.descriptor = descriptor
        peerUser = peer.user
        peerProcess = peer.pid
        mayBringDescriptors = kc_refuses_descriptors(descriptor.number) == 0
    }

    /// The user that the first frame is about, which is left to be read, and whether the frame looks like a
    /// question for a number, to which `keychaind` has the answer itself; nil where there is none in time.
    package static func beginning(
        in descriptor: Descriptor
    ) -> (user: UInt32, asksForNumber: Bool)? {
        let deadline = BootTime.now + timeout
        let count = LoginMessage.headerBytes + MemoryLayout<UInt32>.size
        var bytes = [UInt8](repeating: 0, count: count)
        while BootTime.now < deadline {
            // Safe: receives at most the array's length.
            let got = unsafe bytes.withUnsafeMutableBytes {
                unsafe recv(
                    descriptor.number, $0.baseAddress, $0.count,
                    Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
            }
            if got == count {
                let number = bytes.suffix(MemoryLayout<UInt32>.size).reversed()
                // Safe: a byte fits into a larger number.
                let user = number.reduce(0) { $0 << 8 | UInt32($1) }
                return (user, LoginMessage.asksForNumber(bytes))
            }
            guard got > 0 || (got < 0 && errno == EAGAIN) else { return nil }
            if got > 0 {
                // A part has come: the rest is not told apart from it by waiting.
                Wait.pause(milliseconds: pauseMilliseconds)
            } else {
                try? Wait.until(POLLIN, descriptor.number, deadline: deadline)
            }
        }
        return nil
    }

    /// Reads one frame: first its header, and allocates memory for the rest only once the header is
    /// checked.
    package func receive() throws(LoginHandoffError) -> LoginRequest {
        let deadline = BootTime.now + Self.timeout
        let header = try secret(count: LoginMessage.headerBytes, deadline)
        let count = try header.withBytes { header throws(LoginHandoffError) in
            try LoginMessage.bodyCount(header)
        }
        let body = try secret(count: count, deadline)
        return try LoginMessage.request(in: header.appending(body))
    }

    package func reply(_ reply: LoginReply) throws(LoginHandoffError) {
        let bytes = LoginMessage.bytes(of: reply)
        let deadline = BootTime.now + Self.timeout
        var sent = 0
        while sent < bytes.count {
            // Safe: sends from within the array.
            let count = unsafe bytes.withUnsafeBytes { bytes in
                unsafe send(
                    descriptor.number, bytes.baseAddress! + sent, bytes.count - sent,
                    Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            }
            if count > 0 {
                sent += count
            } else {
                try recover(for: POLLOUT, deadline)
            }
        }
    }

    /// Reads bytes from the peer directly into locked memory.
    private func secret(
        count: Int, _ deadline: BootTime
    ) throws(LoginHandoffError) -> SecretBytes {
        try SecretBytes(count: count) { (span: inout MutableRawSpan) throws(LoginHandoffError) in
            var filled = 0
            while filled < count {
                // Safe: the rest of the span, and not a byte more.
                let got = unsafe span.withUnsafeMutableBytes { bytes in
                    unsafe kc_receive(
                        descriptor.number, bytes.baseAddress! + filled, count - filled,
                        Int32(MSG_DONTWAIT), mayBringDescriptors ? 1 : 0, nil)
                }
                guard got != 0 else { throw .closed }
                if got > 0 {
                    filled += got
                } else {
                    try recover(for: POLLIN, deadline)
                }
            }
        }
    }

    /// After a call that moved no bytes: waits, if waiting helps.
    private func recover(
        for events: Int32, _ deadline: BootTime
    ) throws(LoginHandoffError) {
        switch errno {
        case EAGAIN:
            do {
                try Wait.until(events, descriptor.number, deadline: deadline)
            } catch { throw LoginHandoffError(error) }
        case EINTR: return
        case ECONNRESET, EPIPE: throw .closed
        case EBADMSG: throw .malformed
        default: throw .system(errno)
        }
    }
}

extension LoginHandoffError {
    fileprivate init(_ error: SocketError) {
        self = if case .system(let code) = error { .system(code) } else { .closed }
    }

    fileprivate init(_ error: SystemError) {
        self = if case .system(let code) = error { .system(code) } else { .timedOut }
    }
}
