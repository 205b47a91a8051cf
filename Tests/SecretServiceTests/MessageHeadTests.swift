// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import KeychainLinuxSystem
internal import SystemTestSupport
internal import Testing

@testable internal import MessageBus

@Suite struct MessageHeadTests {
    private func read(_ bytes: [UInt8]) -> MessageHead? {
        guard var head = MessageHead(fixed: bytes), head.readFields(bytes) else { return nil }
        return head
    }

    @Test(arguments: [true, false])
    func `who says what is read, in both orders of bytes`(isLittle: Bool) throws {
        let message = WrittenMessage(
            member: "RetrieveSecret", sender: ":1.7", signature: "osha{sv}", descriptors: 1,
            body: [1, 2, 3], isLittle: isLittle)
        let head = try #require(read(message.bytes))
        #expect(head.kind == .call && head.serial == 7)
        #expect(head.member == "RetrieveSecret" && head.sender == ":1.7")
        #expect(head.signature == "osha{sv}" && head.attached == .one)
        #expect(head.allBytes == message.bytes.count && head.headBytes == head.allBytes - 3)
    }

    @Test func `what says nothing of descriptors has none`() {
        #expect(read(WrittenMessage().bytes)?.attached == AttachedDescriptors.none)
        #expect(read(WrittenMessage(descriptors: 0).bytes)?.attached == AttachedDescriptors.none)
        #expect(read(WrittenMessage(descriptors: 253).bytes)?.attached == .several)
    }

    @Test func `without its descriptors a message has numbers in their place`() throws {
        var bytes = WrittenMessage(signature: "oha{sh}h", descriptors: 2).bytes
        let head = try #require(read(bytes))
        head.hideDescriptors(in: &bytes)
        let hidden = try #require(read(bytes))
        #expect(hidden.signature == "oua{su}u" && hidden.attached == AttachedDescriptors.none)
        #expect(hidden.sender == head.sender && hidden.allBytes == head.allBytes)
    }

    @Test func `a head that is cut or written otherwise is not read, whatever it says`() {
        let whole = WrittenMessage(descriptors: 1).bytes
        for count in 0..<whole.count { #expect(read(Array(whole[..<count])) == nil) }
        for place in whole.indices {
            for byte: UInt8 in [0, 1, 9, 127, 255] {
                var changed = whole
                changed[place] = byte
                // It must come back, and take nothing from beyond the array.
                _ = read(changed)
            }
        }
    }
}

@Suite struct BusSocketTests {
    /// Listens under an abstract name as the account of that number, and says so.
    private static let listener = """
        import os, socket, sys, time
        os.setresuid(*[int(sys.argv[2])] * 3)
        bus = socket.socket(socket.AF_UNIX)
        bus.bind("\\0" + sys.argv[1])
        bus.listen()
        os.write(3, b"x")
        time.sleep(600)
        """

    @Test(.enabled(if: geteuid() == 0), arguments: [(0, true), (65_534, false)] as [(Int, Bool)])
    func `a bus of another user's is none`(user: Int, isTaken: Bool) throws {
        let name = "keychain-test-\(getpid())-\(user)"
        let (reading, writing) = try Descriptor.pipe()
        let bus = try Python(
            Self.listener, [name, "\(user)"], passing: [(writing.number, 3)])
        defer { bus.end() }
        try Wait.until(Wait.input, reading.number, deadline: .now + .seconds(30))
        let connected = try? BusSocket.connect("unix:abstract=\(name)")
        #expect((connected != nil) == isTaken)
    }

    @Test func `an address names a path or an abstract name`() {
        #expect(BusSocket.name(in: "unix:path=/run/bus,guid=12") == Array("/run/bus".utf8))
        #expect(BusSocket.name(in: "unix:abstract=/tmp/x") == [0] + Array("/tmp/x".utf8))
        #expect(BusSocket.name(in: "unix:path=/a%20b%2c") == Array("/a b,".utf8))
    }

    @Test(arguments: [
        "unix:path=", "unix:path=/a%2", "unix:path=/a%zz", "unix:path=/a%00b", "tcp:host=a",
    ])
    func `another address names none`(address: String) {
        #expect(BusSocket.name(in: address) == nil)
    }
}

/// A message as a bus writes it.
struct WrittenMessage: Sendable {
    var kind: UInt8 = 1
    var serial: UInt32 = 7
    /// nil for none.
    var path: String?
    var member = "Ping"
    var sender = ":1.7"
    var signature = ""
    var descriptors: UInt32?
    var body: [UInt8] = []
    var isLittle = true

    var bytes: [UInt8] {
        var fields: [UInt8] = []
        if let path { add(1, "o", text(path), to: &fields) }
        add(3, "s", text(member), to: &fields)
        add(7, "s", text(sender), to: &fields)
        if !signature.isEmpty {
            add(8, "g", [UInt8(signature.utf8.count)] + Array(signature.utf8) + [0], to: &fields)
        }
        if let descriptors { add(9, "u", number(descriptors), to: &fields) }
        var message: [UInt8] = [UInt8(ascii: isLittle ? "l" : "B"), kind, 0, 1]
        message += number(UInt32(body.count)) + number(serial) + number(UInt32(fields.count))
        message += fields
        message += [UInt8](repeating: 0, count: (8 - message.count % 8) % 8)
        return message + body
    }

    private func add(
        _ code: UInt8, _ type: Unicode.Scalar, _ value: [UInt8], to fields: inout [UInt8]
    ) {
        fields += [UInt8](repeating: 0, count: (8 - fields.count % 8) % 8)
        fields += [code, 1, UInt8(ascii: type), 0] + value
    }

    private func text(_ text: String) -> [UInt8] {
        number(UInt32(text.utf8.count)) + Array(text.utf8) + [0]
    }

    private func number(_ number: UInt32) -> [UInt8] {
        let big = (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * (3 - UInt32($0)))) }
        return isLittle ? big.reversed() : big
    }
}
