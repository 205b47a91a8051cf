// SPDX-License-Identifier: Apache-2.0
import CKeychainLinux
import Glibc
import SystemTestSupport
import Testing

@testable import KeychainLinuxSystem
@testable import KeychainLocalSocket

/// A frame may bring one descriptor where its reader takes them.
struct FramesWithDescriptorsTests {
    private let stream: FrameStream
    private let peer: RawPeer

    init() throws {
        let (own, peer) = try RawPeer.pair()
        self.peer = peer
        stream = FrameStream(own, sender: .own, nonce: RawFrame.nonce)
    }

    private func frame(_ text: String, sequence: UInt64 = 1) -> [UInt8] {
        var frame = RawFrame(message: Array(text.utf8))
        frame.sequence = sequence
        return frame.bytes
    }

    /// The peer's end of a pipe: once all copies of it are closed, the other end says so.
    private func pipe() throws -> (reads: Descriptor, writes: Descriptor) {
        let made = try Pipe.make()
        return (made.reads, made.writes)
    }

    private func isClosed(_ reads: Descriptor) -> Bool {
        (try? Wait.until(POLLHUP, reads.number, deadline: .now + .seconds(10))) != nil
    }

    private func say(_ bytes: [UInt8], passing numbers: [Int32]) throws {
        let sent = unsafe bytes.withUnsafeBytes {
            unsafe sendAll(peer.descriptor.number, $0.baseAddress, $0.count, numbers)
        }
        #expect(sent == bytes.count)
    }

    /// As many descriptors as there are, in one message.
    private func sendAll(
        _ socket: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ numbers: [Int32]
    ) -> Int {
        let header = MemoryLayout<cmsghdr>.size
        var control = [UInt8](repeating: 0, count: header + (numbers.count * 4 + 7) / 8 * 8)
        return unsafe control.withUnsafeMutableBytes { control in
            let item = unsafe control.baseAddress!.assumingMemoryBound(to: cmsghdr.self)
            unsafe item.pointee.cmsg_len = header + numbers.count * 4
            unsafe item.pointee.cmsg_level = SOL_SOCKET
            unsafe item.pointee.cmsg_type = Int32(SCM_RIGHTS)
            for (place, number) in numbers.enumerated() {
                unsafe control.storeBytes(
                    of: number, toByteOffset: header + place * 4, as: Int32.self)
            }
            var part = unsafe iovec(
                iov_base: UnsafeMutableRawPointer(mutating: bytes), iov_len: count)
            return unsafe withUnsafeMutablePointer(to: &part) { part in
                var message = unsafe msghdr()
                unsafe message.msg_iov = part
                unsafe message.msg_iovlen = 1
                unsafe message.msg_control = control.baseAddress
                unsafe message.msg_controllen = control.count
                return unsafe sendmsg(socket, &message, Int32(MSG_NOSIGNAL))
            }
        }
    }

    @Test func `one comes with its frame, and with no other`() throws {
        stream.takeDescriptors()
        let (reads, writes) = try pipe()
        peer.say(frame("before"))
        #expect(try stream.receive(.request, within: .seconds(10)).descriptor == nil)
        try say(self.frame("with", sequence: 2), passing: [writes.number])
        let frame = try stream.receive(.request, within: .seconds(10))
        let taken = try #require(frame.descriptor)
        #expect(frame.message == Array("with".utf8))
        #expect(fcntl(taken.number, F_GETFD) & FD_CLOEXEC != 0)
        peer.say(self.frame("after", sequence: 3))
        #expect(try stream.receive(.request, within: .seconds(10)).descriptor == nil)
        withExtendedLifetime((reads, writes, taken)) {}
    }

    @Test func `it is closed when the frame is let go`() throws {
        stream.takeDescriptors()
        let reads = try { () throws -> Descriptor in
            let (reads, writes) = try pipe()
            try say(frame("with"), passing: [writes.number])
            _ = try stream.receive(.request, within: .seconds(10))
            return reads
        }()
        #expect(isClosed(reads))
    }

    @Test func `several are no frame, and none is kept`() throws {
        stream.takeDescriptors()
        let (reads, writes) = try pipe()
        try say(frame("with"), passing: [writes.number, writes.number])
        #expect(throws: SocketError.malformed) {
            try stream.receive(.request, within: .seconds(10))
        }
        withExtendedLifetime((reads, writes)) {}
    }

    @Test func `a second one with the same frame is none either`() throws {
        stream.takeDescriptors()
        let reads = try { () throws -> Descriptor in
            let (reads, writes) = try pipe()
            let bytes = frame("with")
            try say(Array(bytes.prefix(10)), passing: [writes.number])
            try say(Array(bytes.dropFirst(10)), passing: [writes.number])
            #expect(throws: SocketError.malformed) {
                try stream.receive(.request, within: .seconds(10))
            }
            return reads
        }()
        withExtendedLifetime(reads) {}
    }

    @Test func `where none is taken the frame is refused`() throws {
        let (reads, writes) = try pipe()
        try say(frame("with"), passing: [writes.number])
        #expect(throws: SocketError.malformed) {
            try stream.receive(.request, within: .seconds(10))
        }
        withExtendedLifetime((reads, writes)) {}
    }

    @Test func `a frame is sent with its descriptor`() throws {
        var numbers: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        #expect(unsafe socketpair(AF_UNIX, type, 0, &numbers) == 0)
        var yes: Int32 = 1
        unsafe setsockopt(numbers[0], SOL_SOCKET, SO_PASSCRED, &yes, 4)
        let server = FrameStream(
            Descriptor(owning: numbers[0]), sender: .own, nonce: RawFrame.nonce)
        server.takeDescriptors()
        let client = FrameStream(
            Descriptor(owning: numbers[1]), sender: nil, nonce: RawFrame.nonce)
        let (reads, writes) = try pipe()
        try client.send(Frame(message: [1], secrets: nil, passing: writes))
        let frame = try server.receive(.request, within: .seconds(10))
        #expect(frame.message == [1])
        let taken = try #require(frame.descriptor)
        #expect(unsafe write(taken.number, [7], 1) == 1)
        var byte: UInt8 = 0
        #expect(unsafe read(reads.number, &byte, 1) == 1 && byte == 7)
    }
}
