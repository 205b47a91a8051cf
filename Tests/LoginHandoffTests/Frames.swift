// SPDX-License-Identifier: Apache-2.0

/// Frames written out by hand, byte for byte: a second opinion on the C encoder's layout.
struct Frames {
    var magic: UInt32 = 0x4c46_434b
    var version: UInt16 = 1
    var verb: UInt16
    var user: UInt32 = 1000
    var ticket: Int32 = 0x1234_5678
    var leader: Int32 = 4321
    var audit: UInt32 = 7
    var flags: UInt16 = 0
    var texts = ["alice", "sshd", "ssh", "c1"].map { Array($0.utf8) }
    var passwords: [[UInt8]] = [[], []]
    /// What the header says, if it lies.
    var announced: UInt32?

    var bytes: [UInt8] {
        var body = Self.little(user) + Self.little(UInt32(bitPattern: ticket))
        body += Self.little(UInt32(bitPattern: leader)) + Self.little(audit) + Self.little(flags)
        for field in texts + passwords { body += Self.little(UInt16(field.count)) + field }
        return Self.header(magic, version, verb, announced ?? UInt32(body.count)) + body
    }

    static func header(
        _ magic: UInt32, _ version: UInt16, _ verb: UInt16, _ count: UInt32
    ) -> [UInt8] {
        little(magic) + little(version) + little(verb) + little(count)
    }

    static func little(_ number: some FixedWidthInteger) -> [UInt8] {
        (0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    static func open(_ password: String?) -> Frames {
        var frame = Frames(verb: 1)
        if let password {
            frame.flags = 2
            frame.passwords[0] = Array(password.utf8)
        }
        return frame
    }

    static let close = Frames(verb: 2)
    static let number = Frames(
        verb: 6, ticket: 0, leader: 0, audit: 0, texts: [[], [], [], []])
    static let offer = Frames(verb: 3, flags: 2, passwords: [Array("right".utf8), []])
    static let change = Frames(
        verb: 4, flags: 6, passwords: [Array("old one".utf8), Array("new one".utf8)])
}
