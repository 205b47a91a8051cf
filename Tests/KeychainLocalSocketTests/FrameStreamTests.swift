// SPDX-License-Identifier: Apache-2.0
import CKeychainLinux
import Glibc
import KeychainSecrets
import SystemTestSupport
import Testing

@testable import KeychainLinuxSystem
@testable import KeychainLocalSocket

struct FrameStreamTests {
    private static let limits = FrameLimits(message: 64 * 1024, secrets: 4 * 1024 * 1024)

    /// What a stream makes of these bytes and nothing more.
    private func receive(
        _ bytes: [UInt8], from sender: PeerCredentials? = .own, limits: FrameLimits = limits
    ) throws -> Frame {
        let (ours, peer) = try RawPeer.pair()
        let stream = FrameStream(ours, sender: sender, nonce: RawFrame.nonce)
        peer.say(bytes)
        peer.finish()
        return try stream.receive(limits, within: nil)
    }

    @Test(
        arguments: [0, 1, 39, 40, 4055, 4056, 4057, 8192, 65_536],
        [0, 1, 64, 4096, 300_000, 3_000_000])
    func `a frame arrives as it was sent`(message: Int, secrets: Int) throws {
        let (ours, peer) = try RawPeer.pair()
        let secret = RandomBytes.make(secrets)
        let frame = Frame(
            message: RandomBytes.make(message),
            secrets: secrets > 0 ? HeldSecret(SecretBytes(copying: secret)) : nil)
        let listening = Background {
            let stream = FrameStream(ours, sender: .own, nonce: RawFrame.nonce)
            let first = try stream.receive(Self.limits, within: nil)
            let second = try stream.receive(Self.limits, within: nil)
            return [first.content, second.content]
        }
        let speaking = FrameStream(peer.descriptor, sender: nil, nonce: RawFrame.nonce)
        try speaking.send(frame)
        try speaking.send(frame)
        #expect(try listening.value() == [[frame.message, secret], [frame.message, secret]])
    }

    @Test func `frames that arrive together are told apart`() throws {
        var second = RawFrame(message: [3], secrets: [4, 5])
        second.sequence = 2
        let (ours, peer) = try RawPeer.pair()
        let stream = FrameStream(ours, sender: .own, nonce: RawFrame.nonce)
        peer.say(RawFrame(message: [1, 2], secrets: [9]).bytes + second.bytes)
        #expect(try stream.receive(Self.limits, within: nil).content == [[1, 2], [9]])
        #expect(try stream.receive(Self.limits, within: nil).content == [[3], [4, 5]])
    }

    @Test(arguments: [0, 1, 100, 3900, 4000, 4056, 9000], [1, 41, 70, 500, 4097])
    func `no copy of a secret stays in the buffer`(message: Int, piece: Int) throws {
        let secret = [UInt8](repeating: 0xA5, count: 64)
        let (ours, peer) = try RawPeer.pair()
        let stream = FrameStream(ours, sender: .own, nonce: RawFrame.nonce)
        // One that fills the buffer comes first, and the last may be read together with the secret.
        var frames = [
            RawFrame(message: [UInt8](repeating: 1, count: 4056), secrets: []),
            RawFrame(message: [UInt8](repeating: 2, count: message), secrets: secret),
            RawFrame(message: [3], secrets: []),
        ]
        for index in frames.indices { frames[index].sequence = UInt64(index + 1) }
        let bytes = frames.flatMap(\.bytes)
        let speaking = Background {
            for start in stride(from: 0, to: bytes.count, by: piece) {
                peer.say(Array(bytes[start..<min(start + piece, bytes.count)]))
            }
        }
        for frame in frames {
            let received = try stream.receive(Self.limits, within: nil)
            #expect(received.secrets?.bytes.count ?? 0 == frame.secretsLength)
            // Before the frame with the secret it may be there already.
            guard frame.sequence > 1 else { continue }
            let left = stream.buffer.releasedFromLockedMemory()
            #expect(!left.contains(0xA5), "after frame \(frame.sequence)")
        }
        _ = try speaking.value()
    }

    @Test(arguments: [(0, 0), (1, 0), (100, 24), (4056, 0), (4000, 56), (4057, 0), (0, 100_000)])
    func `what has come is read ahead, and a whole short frame is told`(
        message: Int, secrets: Int
    ) throws {
        let bytes = RawFrame(
            message: RandomBytes.make(message), secrets: RandomBytes.make(secrets)
        ).bytes
        let (ours, peer) = try RawPeer.pair()
        let stream = FrameStream(ours, sender: nil, nonce: RawFrame.nonce)
        // The head alone, and all but a byte, are no frame.
        peer.say(Array(bytes.prefix(39)))
        #expect(try !stream.readAhead())
        peer.say(Array(bytes.dropFirst(39).dropLast()))
        if bytes.count > 40 { #expect(try !stream.readAhead()) }
        peer.say(Array(bytes.suffix(1)))
        #expect(try stream.readAhead() == (bytes.count <= 4096))
        let frame = try stream.receive(Self.limits, within: nil)
        #expect(frame.content.first?.count == message)
        peer.finish()
        #expect(throws: SocketError.closed) { try stream.readAhead() }
    }

    @Test func `a frame that ends too early is a closed connection, wherever it ends`() throws {
        let whole = RawFrame(message: Array("message".utf8), secrets: [1, 2, 3]).bytes
        for length in 0..<whole.count {
            #expect(throws: SocketError.closed) { try receive(Array(whole.prefix(length))) }
        }
    }

    @Test(arguments: [(0xFFFF_FFFF, 0), (0, 0xFFFF_FFFF), (65_537, 0), (0, 4_194_305)])
    func `a length over the limit is refused before anything of it is read`(
        message: Int, secrets: Int
    ) throws {
        var frame = RawFrame(message: [])
        frame.messageLength = message
        frame.secretsLength = secrets
        #expect(throws: SocketError.tooLarge) { try receive(frame.bytes) }
    }

    @Test(arguments: [0, 2, UInt64.max])
    func `a frame out of sequence is refused`(sequence: UInt64) throws {
        var frame = RawFrame(message: [1])
        frame.sequence = sequence
        #expect(throws: SocketError.malformed) { try receive(frame.bytes) }
    }

    @Test func `a frame that is said twice is refused`() throws {
        let (ours, peer) = try RawPeer.pair()
        let stream = FrameStream(ours, sender: .own, nonce: RawFrame.nonce)
        let frame = RawFrame(message: [1]).bytes
        peer.say(frame + frame)
        #expect(try stream.receive(Self.limits, within: nil).message == [1])
        #expect(throws: SocketError.malformed) {
            try stream.receive(Self.limits, within: nil)
        }
    }

    @Test func `a frame of another connection is refused`() throws {
        for position in 0..<16 {
            var frame = RawFrame(message: [1])
            frame.nonce[position] ^= 1
            #expect(throws: SocketError.malformed) { try receive(frame.bytes) }
        }
    }

    @Test func `a header with any bit changed is refused`() throws {
        // The peer says exactly what the true header announced, so a longer one never ends.
        let whole = RawFrame(message: [7, 7], secrets: [8]).bytes
        for bit in 0..<FrameHeader.byteCount * 8 {
            var bytes = whole
            bytes[bit / 8] ^= 1 << (bit % 8)
            let isLength = (8..<16).contains(bit / 8)
            do {
                let frame = try receive(bytes)
                // A shorter length cuts the frame; the rest is no frame.
                #expect(isLength && frame.content != [[7, 7], [8]], "bit \(bit)")
            } catch let error as SocketError {
                // Without its one bit the version is 0, which none was.
                let isVersion = (33..<48).contains(bit)
                let expected: [SocketError] =
                    isLength ? [.closed, .tooLarge] : isVersion ? [.newer] : [.malformed]
                #expect(expected.contains(error), "bit \(bit): \(error)")
            }
        }
    }

    @Test(arguments: 1...200)
    func `random bytes are no frame`(length: Int) throws {
        let error = #expect(throws: SocketError.self) { try receive(RandomBytes.make(length)) }
        #expect(error == (length < FrameHeader.byteCount ? .closed : .malformed))
    }

    @Test func `a frame of a newer version is told from no frame, whatever else it says`() throws {
        var bytes = RawFrame(message: [1]).bytes
        bytes[4] = 2
        bytes.replaceSubrange(6..<bytes.count, with: repeatElement(0xFF, count: bytes.count - 6))
        #expect(throws: SocketError.newer) { try receive(bytes) }
    }

    @Test func `a frame that has begun must go on`() throws {
        let whole = RawFrame(message: [1, 2], secrets: [3, 4]).bytes
        for length in [1, 39, 40, 41, 42, 43] {
            let (ours, peer) = try RawPeer.pair()
            let stream = FrameStream(
                ours, sender: .own, nonce: RawFrame.nonce, timeout: .milliseconds(50))
            peer.say(Array(whole.prefix(length)))
            #expect(throws: SocketError.timedOut) {
                try stream.receive(Self.limits, within: nil)
            }
        }
    }

    @Test(arguments: [false, true])
    func `nothing is waited for longer than asked`(waitsInReceive: Bool) throws {
        let (ours, peer) = try RawPeer.pair()
        let stream = FrameStream(
            ours, sender: .own, waitsInReceive: waitsInReceive, nonce: RawFrame.nonce)
        #expect(throws: SocketError.timedOut) {
            try stream.receive(Self.limits, within: .milliseconds(50))
        }
        withExtendedLifetime(peer) {}
    }

    @Test func `a peer that stops reading is given up`() throws {
        let (ours, peer) = try RawPeer.pair()
        let stream = FrameStream(
            ours, sender: .own, nonce: RawFrame.nonce, timeout: .milliseconds(100))
        let frame = Frame(message: [UInt8](repeating: 0, count: 8 * 1024 * 1024), secrets: nil)
        #expect(throws: SocketError.timedOut) { try stream.send(frame) }
        withExtendedLifetime(peer) {}
    }

    @Test func `a peer that has gone is a closed connection`() throws {
        let (ours, stream): (Descriptor, FrameStream) = try {
            let (ours, _) = try RawPeer.pair()
            return (ours, FrameStream(ours, sender: .own, nonce: RawFrame.nonce))
        }()
        #expect(throws: SocketError.closed) {
            try stream.send(Frame(message: [1], secrets: nil))
        }
        withExtendedLifetime(ours) {}
    }

    @Test(arguments: [
        PeerCredentials(pid: getppid(), user: geteuid(), group: getegid()),
        PeerCredentials(pid: getpid(), user: geteuid() + 1, group: getegid()),
        PeerCredentials(pid: getpid(), user: geteuid(), group: getegid() + 1),
    ])
    func `no peer speaks for another process, user or group`(other: PeerCredentials) throws {
        #expect(throws: SocketError.foreignSender) {
            try receive(RawFrame(message: [1]).bytes, from: other)
        }
    }

    @Test func `the first that speaks is the only one`() throws {
        let (ours, peer) = try RawPeer.pair()
        let stream = FrameStream(ours, sender: nil, keepsFirst: true, nonce: RawFrame.nonce)
        peer.say(RawFrame(message: [1]).bytes)
        #expect(try stream.receive(Self.limits, within: nil).content == [[1], []])
        var second = RawFrame(message: [2])
        second.sequence = 2
        peer.say(second.bytes)
        #expect(try stream.receive(Self.limits, within: nil).content == [[2], []])
    }

    /// A peer outside our pid namespace has the number 0, as has a sender of whom nothing is known.
    @Test(arguments: [PeerCredentials.own, PeerCredentials(pid: 0, user: 0, group: 0)])
    func `a sender the kernel does not name is foreign`(connected: PeerCredentials) throws {
        var numbers: [Int32] = [-1, -1]
        #expect(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &numbers) == 0)
        let ours = Descriptor(owning: numbers[0])
        let peer = RawPeer(Descriptor(owning: numbers[1]))
        peer.say(RawFrame(message: [1]).bytes)
        #expect(throws: SocketError.foreignSender) {
            try FrameStream(ours, sender: connected, nonce: RawFrame.nonce)
                .receive(Self.limits, within: nil)
        }
    }

    /// As the prompter, whose effective group is not its real one: the kernel tells of the one at
    /// connect and of the other with each message.
    @Test(.enabled(if: isRoot, "only root may name another group"))
    func `a program that connected under another group may name it`() throws {
        let group: UInt32 = 61_234
        let connected = PeerCredentials(pid: getpid(), user: 0, group: group)
        let (ours, peer) = try RawPeer.pair()
        let speaking = FrameStream(
            peer.descriptor, sender: nil,
            ourselves: kc_sender(pid: getpid(), uid: 0, gid: group, known: 1),
            nonce: RawFrame.nonce)
        try speaking.send(
            Frame(message: [1], secrets: HeldSecret(SecretBytes(copying: [2]))))
        let heard = try FrameStream(ours, sender: connected, nonce: RawFrame.nonce)
            .receive(Self.limits, within: nil)
        #expect(heard.content == [[1], [2]])
    }
}
