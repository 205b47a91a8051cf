// SPDX-License-Identifier: Apache-2.0
internal import CKeychainLinux
internal import Glibc
internal import KeychainLinuxSystem
internal import Testing

@testable internal import MessageBus

@Suite struct BusInletTests {
    private static let member = "RetrieveSecret"

    private let bus: Descriptor
    private let library: Descriptor
    private let inlet: BusInlet
    private let held = Held()

    /// Other ends, which must stay open.
    private final class Held {
        var sockets: [Descriptor] = []
    }

    init() throws {
        let (bus, inner) = try Self.pair()
        let (library, given) = try Self.pair()
        (self.bus, self.library) = (bus, library)
        inlet = BusInlet(bus: inner, library: given, descriptorMember: Self.member)
        inlet.descriptorSender = ":1.7"
    }

    private static func pair() throws -> (Descriptor, Descriptor) {
        var numbers: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let result = unsafe socketpair(AF_UNIX, type, 0, &numbers)
        try #require(result == 0)
        return (Descriptor(owning: numbers[0]), Descriptor(owning: numbers[1]))
    }

    private func say(_ bytes: [UInt8], _ passed: Descriptor? = nil) {
        let count = unsafe bytes.withUnsafeBytes {
            unsafe kc_send_passing(
                bus.number, $0.baseAddress, $0.count, nil, 0, nil, passed?.number ?? -1)
        }
        #expect(count == bytes.count)
    }

    /// What the library reads, and the descriptor that comes along.
    private func heard() -> (bytes: [UInt8], descriptor: Descriptor?) {
        var bytes = [UInt8](repeating: 0, count: 200_000)
        var number: Int32 = -1
        var speaker = kc_sender()
        let count = unsafe bytes.withUnsafeMutableBytes {
            unsafe kc_receive_passed(
                library.number, $0.baseAddress, $0.count, &number, &speaker)
        }
        return (
            Array(bytes.prefix(max(count, 0))), number < 0 ? nil : Descriptor(owning: number)
        )
    }

    /// Whether the pipe's last end to write to is closed by now or within a while.
    private func isLetGo(_ reading: Descriptor, within milliseconds: Int32) -> Bool {
        var item = pollfd(fd: reading.number, events: 0, revents: 0)
        return unsafe poll(&item, 1, milliseconds) == 1
    }

    @Test func `lines and messages go on one by one`() {
        let message = WrittenMessage(body: [1, 2, 3]).bytes
        say(Array("OK 1234\r\nAGREE_UNIX_FD\r\n".utf8) + message + message)
        var parts: [[UInt8]] = []
        while inlet.pass() { parts.append(heard().bytes) }
        #expect(
            parts == [
                Array("OK 1234\r\n".utf8), Array("AGREE_UNIX_FD\r\n".utf8), message, message,
            ])
    }

    @Test func `a long message goes on in parts, and one that is not whole waits`() {
        let message = WrittenMessage(body: [UInt8](repeating: 5, count: 100_000)).bytes
        say(Array(message[..<20]))
        #expect(!inlet.pass())
        say(Array(message[20...]))
        var all: [UInt8] = []
        while inlet.pass() { all += heard().bytes }
        #expect(all == message && inlet.messageBytes == message.count)
    }

    @Test func `an end is passed on, once`() {
        _ = shutdown(bus.number, Int32(SHUT_RDWR))
        #expect(inlet.pass())
        var byte: UInt8 = 0
        let count = unsafe recv(library.number, &byte, 1, 0)
        #expect(count == 0)
        #expect(!inlet.pass())
    }

    /// Says it with an end of a pipe that is nowhere else; the other one is returned.
    private func sayWithPipe(_ message: WrittenMessage) throws -> Descriptor {
        let (reading, writing) = try Descriptor.pipe()
        say(message.bytes, writing)
        return reading
    }

    private var asked: WrittenMessage {
        WrittenMessage(member: Self.member, signature: "h", descriptors: 1, body: [0, 0, 0, 0])
    }

    static let unasked = [
        WrittenMessage(member: "Ping", signature: "h", descriptors: 1),
        WrittenMessage(member: "RetrieveSecret", signature: "h", descriptors: 2),
        // A program's answer, and its signal.
        WrittenMessage(kind: 2, member: "RetrieveSecret", signature: "h", descriptors: 1),
        WrittenMessage(kind: 4, member: "RetrieveSecret", signature: "h", descriptors: 1),
        // Another connection's call.
        WrittenMessage(member: "RetrieveSecret", sender: ":1.8", signature: "h", descriptors: 1),
    ]

    @Test(arguments: unasked)
    func `what a message brings unasked is let go, and the message goes on without it`(
        message: WrittenMessage
    ) throws {
        let reading = try sayWithPipe(message)
        #expect(inlet.pass())
        #expect(isLetGo(reading, within: 10_000))
        let (bytes, descriptor) = heard()
        #expect(bytes.count == message.bytes.count && descriptor == nil)
        var head = try #require(MessageHead(fixed: bytes))
        let isRead = head.readFields(bytes)
        #expect(isRead)
        #expect(head.signature == "u" && head.attached == AttachedDescriptors.none)
        let brought = try #require(inlet.takeBrought(serial: 7, sender: message.sender))
        #expect(brought.attached == (message.descriptors == 1 ? .one : .several))
        #expect(brought.signature == "h" && brought.descriptor == nil)
    }

    @Test func `what no head tells of is gone, too`() throws {
        let reading = try sayWithPipe(WrittenMessage())
        #expect(inlet.pass())
        #expect(isLetGo(reading, within: 0))
        #expect(heard().bytes == WrittenMessage().bytes)
        #expect(inlet.takeBrought(serial: 7, sender: ":1.7") == nil)
    }

    /// A socket with unsent data, whose last close takes as long as this says.
    private func lingering(seconds: Int32) throws -> Descriptor {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let listener = Descriptor(owning: socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        let sending = Descriptor(owning: socket(AF_INET, type, 0))
        let result = listen(listener.number, 1)
        try #require(result == 0)
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = unsafe getsockname(listener.number, $0, &length)
                _ = unsafe connect(sending.number, $0, length)
            }
        }
        var option = linger(l_onoff: 1, l_linger: seconds)
        let size = socklen_t(MemoryLayout<linger>.size)
        let isSet = unsafe setsockopt(sending.number, SOL_SOCKET, SO_LINGER, &option, size)
        try #require(isSet == 0)
        let bytes = [UInt8](repeating: 0, count: 65_536)
        while unsafe send(sending.number, bytes, bytes.count, Int32(MSG_NOSIGNAL)) > 0 {}
        held.sockets.append(listener)
        return sending
    }

    @Test func `a socket that lingers holds no message up`() throws {
        let message = WrittenMessage(member: "Ping", descriptors: 1, body: [1, 2, 3])
        try say(message.bytes, lingering(seconds: 20))
        let began = ContinuousClock.now
        #expect(inlet.pass())
        #expect(heard().bytes.suffix(3) == [1, 2, 3])
        say(message.bytes)
        #expect(inlet.pass())
        #expect(began.duration(to: .now) < .seconds(10))
    }

    /// The kernel cuts so long a head into pieces, so that no look sees all of it.
    @Test func `a socket that lingers behind a long head holds no message up`() throws {
        let path = "/" + String(repeating: "a", count: 40_000)
        let message = WrittenMessage(path: path, descriptors: 1, body: [1, 2, 3])
        try say(message.bytes, lingering(seconds: 20))
        let began = ContinuousClock.now
        #expect(inlet.pass())
        #expect(heard().bytes.suffix(3) == [1, 2, 3])
        #expect(began.duration(to: .now) < .seconds(10))
    }

    @Test func `a head whose end does not come is passed on without its descriptor`() throws {
        let message = WrittenMessage(descriptors: 1).bytes
        let (reading, writing) = try Descriptor.pipe()
        say(Array(message[..<20]), writing)
        let deadline = ContinuousClock.now + .seconds(30)
        while !inlet.pass(), .now < deadline { Wait.pause(milliseconds: 10) }
        let (bytes, descriptor) = heard()
        #expect(bytes == Array(message[..<20]) && descriptor == nil)
        withExtendedLifetime(reading) {}
    }

    @Test func `where not even a head begins the connection ends, on both sides`() {
        say(Array(WrittenMessage().bytes[..<5]))
        let deadline = ContinuousClock.now + .seconds(30)
        while !inlet.pass(), .now < deadline { Wait.pause(milliseconds: 10) }
        for end in [library, bus] {
            var byte: UInt8 = 0
            let count = unsafe recv(end.number, &byte, 1, 0)
            #expect(count == 0)
        }
    }

    @Test func `a call that is longer than any goes nowhere, and the next one comes`() throws {
        var message = WrittenMessage(descriptors: 1).bytes
        let length = 33 * 1024 * 1024
        for place in 0..<4 { message[4 + place] = UInt8(truncatingIfNeeded: length >> (8 * place)) }
        say(message)
        var left = length
        let piece = [UInt8](repeating: 7, count: 64 * 1024)
        while left > 0 {
            let count = unsafe piece.withUnsafeBytes {
                unsafe send(
                    bus.number, $0.baseAddress, min(left, $0.count), Int32(MSG_NOSIGNAL))
            }
            if count > 0 { left -= count }
            #expect(!inlet.pass())
        }
        let next = WrittenMessage(member: "Next").bytes
        say(next)
        while !inlet.pass() {}
        #expect(heard().bytes == next)
    }

    @Test func `a head that can't be read goes on as it is`() throws {
        var bytes = WrittenMessage(descriptors: 1).bytes
        // The type of its first field.
        bytes[18] = UInt8(ascii: "x")
        say(bytes)
        #expect(inlet.pass())
        #expect(heard().bytes == bytes)
    }

    @Test func `the call that may bring one keeps it until it is let go`() throws {
        let reading = try sayWithPipe(asked)
        #expect(inlet.pass())
        #expect(heard().descriptor == nil)
        #expect(inlet.takeBrought(serial: 8, sender: ":1.7") == nil)
        #expect(inlet.takeBrought(serial: 7, sender: ":1.8") == nil)
        var brought = inlet.takeBrought(serial: 7, sender: ":1.7")
        #expect(brought?.attached == .one && brought?.descriptor != nil)
        #expect(inlet.takeBrought(serial: 7, sender: ":1.7") == nil)
        #expect(!isLetGo(reading, within: 0))
        brought = nil
        #expect(isLetGo(reading, within: 10_000))
    }

    @Test func `while no connection may bring one, none is taken`() throws {
        inlet.descriptorSender = nil
        let reading = try sayWithPipe(asked)
        #expect(inlet.pass())
        #expect(isLetGo(reading, within: 10_000))
        let brought = inlet.takeBrought(serial: 7, sender: ":1.7")
        #expect(brought?.attached == .one && brought?.descriptor == nil)
    }

    @Test func `what is not fetched is let go with the next message`() throws {
        let reading = try sayWithPipe(asked)
        #expect(inlet.pass())
        say(WrittenMessage().bytes)
        #expect(inlet.pass())
        #expect(isLetGo(reading, within: 10_000))
    }

    @Test func `64 are open at once, and of the next call none is taken`() throws {
        var kept: [BusInlet.Brought] = []
        for _ in 0..<65 {
            _ = try sayWithPipe(asked)
            #expect(inlet.pass())
            _ = heard()
            kept.append(try #require(inlet.takeBrought(serial: 7, sender: ":1.7")))
        }
        #expect(kept.count { $0.descriptor != nil } == 64)
        #expect(kept.last?.descriptor == nil && kept.last?.attached == .one)
    }

    private var toldByBus: WrittenMessage {
        WrittenMessage(
            kind: 2, sender: BusConnection.itself, signature: "h", descriptors: 1,
            body: [0, 0, 0, 0])
    }

    @Test func `a process of which the bus tells reaches the library`() throws {
        say(toldByBus.bytes, ProcessDescriptor.open(getpid()))
        #expect(inlet.pass())
        let (bytes, descriptor) = heard()
        #expect(bytes == toldByBus.bytes)
        let process = PinnedProcess(passed: try #require(descriptor))
        #expect(process?.id == getpid())
        #expect(inlet.takeBrought(serial: 7, sender: BusConnection.itself) == nil)
    }

    @Test func `anything else of which a bus says that it is a process does not`() throws {
        let reading = try sayWithPipe(toldByBus)
        #expect(inlet.pass())
        let (bytes, descriptor) = heard()
        #expect(bytes.count == toldByBus.bytes.count && descriptor == nil)
        var head = try #require(MessageHead(fixed: bytes))
        #expect(head.readFields(bytes) && head.attached == AttachedDescriptors.none)
        #expect(isLetGo(reading, within: 10_000))
    }
}
