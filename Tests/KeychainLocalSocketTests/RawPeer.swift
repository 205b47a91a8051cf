// SPDX-License-Identifier: Apache-2.0
import CKeychainLinux
import Glibc
import KeychainSecrets

@testable import KeychainLinuxSystem
@testable import KeychainLocalSocket

/// A peer that says whatever bytes a test wants.
final class RawPeer: Sendable {
    let descriptor: Descriptor

    init(_ descriptor: Descriptor) { self.descriptor = descriptor }

    /// Two connected stream sockets; the first insists on knowing who speaks.
    static func pair() throws -> (Descriptor, RawPeer) {
        var numbers: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &numbers) == 0 else {
            throw SocketError.system(errno)
        }
        var yes: Int32 = 1
        unsafe setsockopt(numbers[0], SOL_SOCKET, SO_PASSCRED, &yes, 4)
        return (Descriptor(owning: numbers[0]), RawPeer(Descriptor(owning: numbers[1])))
    }

    func say(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes {
                unsafe send(
                    descriptor.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            // The other end may have heard enough.
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    func hear(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let got = unsafe bytes.withUnsafeMutableBytes {
            unsafe recv(
                descriptor.number, $0.baseAddress, $0.count, Int32(MSG_WAITALL))
        }
        return Array(bytes.prefix(max(got, 0)))
    }

    func finish() { _ = shutdown(descriptor.number, Int32(SHUT_WR)) }
}

extension PeerCredentials {
    static let own = PeerCredentials(pid: getpid(), user: geteuid(), group: getegid())
}

/// A frame as bytes, with a header that may lie.
struct RawFrame {
    static let nonce: [UInt8] = (0..<16).map { UInt8($0) }

    var messageLength: Int
    var secretsLength: Int
    var sequence: UInt64 = 1
    var nonce = RawFrame.nonce
    var body: [UInt8]

    init(message: [UInt8], secrets: [UInt8] = []) {
        messageLength = message.count
        secretsLength = secrets.count
        body = message + secrets
    }

    var header: [UInt8] {
        let bytes = FrameHeader(
            messageLength: messageLength, secretsLength: secretsLength, sequence: sequence,
            nonce: nonce
        ).bytes
        return bytes.indices.map { bytes[$0] }
    }
    var bytes: [UInt8] { header + body }
}

extension Frame {
    /// Message and secrets, for comparing.
    var content: [[UInt8]] { [message, secrets?.bytes.releasedFromLockedMemory() ?? []] }
}
