// SPDX-License-Identifier: Apache-2.0
import Glibc
import KeychainSecrets

@testable import KeychainLinuxSystem
@testable import KeychainLocalSocket

/// All that a peer says on a socket until it closes its end.
enum Frames {
    static let nonce = [UInt8](repeating: 7, count: FrameHeader.nonceBytes)
    private static let limits = FrameLimits(message: 2048, secrets: 4096)
    private static let own = PeerCredentials(pid: getpid(), user: geteuid(), group: getegid())

    /// What is said, in frames of the right nonce and numbers.
    static func input(_ frames: [(message: [UInt8], secrets: [UInt8])]) -> [UInt8] {
        frames.enumerated().flatMap { number, frame in
            let header = FrameHeader(
                messageLength: frame.message.count, secretsLength: frame.secrets.count,
                sequence: UInt64(number) + 1, nonce: nonce
            ).bytes
            return header.indices.map { header[$0] } + frame.message + frame.secrets
        }
    }

    static func read(_ bytes: [UInt8]) throws -> Bool {
        let stream = FrameStream(try socket(saying: bytes), sender: own, nonce: nonce)
        var frames: [(message: [UInt8], secrets: [UInt8])] = []
        while let frame = try? stream.receive(limits, within: nil) {
            let secrets = frame.secrets?.bytes.releasedFromLockedMemory() ?? []
            try require(
                frame.message.count <= limits.message && secrets.count <= limits.secrets,
                "a frame is larger than its limits")
            frames.append((frame.message, secrets))
        }
        try require(bytes.starts(with: input(frames)), "a frame is not what was said")
        return !frames.isEmpty
    }

    /// The end of a socket whose other end has said this, and is closed. `named`: the kernel says with
    /// each piece who said it.
    static func socket(saying bytes: [UInt8], named: Bool = true) throws -> Descriptor {
        var numbers: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        // Safe: writes two numbers into an array of two.
        guard unsafe socketpair(AF_UNIX, type, 0, &numbers) == 0 else {
            throw SocketError.system(errno)
        }
        let (own, peer) = (Descriptor(owning: numbers[0]), Descriptor(owning: numbers[1]))
        var yes: Int32 = named ? 1 : 0
        // Safe: reads one Int32, and the bytes of an array.
        unsafe setsockopt(own.number, SOL_SOCKET, SO_PASSCRED, &yes, 4)
        let sent = unsafe bytes.withUnsafeBytes {
            unsafe send(
                peer.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
        }
        precondition(sent == bytes.count || bytes.isEmpty, "the socket has no room")
        return own
    }
}
