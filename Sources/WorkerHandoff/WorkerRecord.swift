// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

/// What keychaind and a worker send each other: 256 bytes, always, and one descriptor at most.
///
///     magic u32 | version u16 | kind u16 | id u32 | user u32 | value u32 | text u32 + bytes | zeros
struct WorkerRecord: Equatable {
    static let byteCount = 256
    static let longestText = byteCount - 24
    /// "KCWK".
    private static let magic: UInt32 = 0x4B57_434B
    private static let version: UInt16 = 1

    var kind: UInt16
    var id: UInt32 = 0
    var user: UInt32 = 0
    var value: UInt32 = 0
    var text = ""

    /// A text that is too long is cut: what a record carries as text is checked before.
    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: Self.byteCount)
        writer.append(number: Self.magic)
        writer.append(number: Self.version)
        writer.append(number: kind)
        writer.append(number: id)
        writer.append(number: user)
        writer.append(number: value)
        writer.append(block: Array(text.utf8.prefix(Self.longestText)))
        return writer.bytes + [UInt8](repeating: 0, count: Self.byteCount - writer.bytes.count)
    }

    init(
        _ kind: UInt16, id: UInt32 = 0, user: UInt32 = 0, value: UInt32 = 0, text: String = ""
    ) {
        self.kind = kind
        self.id = id
        self.user = user
        self.value = value
        self.text = text
    }

    /// A record is written in one way only: what is unused is zero.
    init(_ bytes: [UInt8]) throws(MalformedBytes) {
        guard bytes.count == Self.byteCount else { throw MalformedBytes() }
        var reader = ByteReader(bytes)
        guard try reader.number(UInt32.self) == Self.magic,
            try reader.number(UInt16.self) == Self.version
        else { throw MalformedBytes() }
        self.init(try reader.number(UInt16.self))
        id = try reader.number(UInt32.self)
        user = try reader.number(UInt32.self)
        value = try reader.number(UInt32.self)
        text = try reader.text()
        guard self.bytes == bytes else { throw MalformedBytes() }
    }
}
