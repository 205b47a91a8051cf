// SPDX-License-Identifier: Apache-2.0

/// Bytes that are not what their format says.
struct MalformedBytes: Error {}

/// Takes a record apart from its beginning. Every length is checked against what is left before
/// anything is made of it.
struct ByteReader {
    private let bytes: ArraySlice<UInt8>
    private var position: Int

    init(_ bytes: [UInt8]) { self.init(bytes[...]) }

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    var isAtEnd: Bool { position == bytes.endIndex }

    mutating func byte() throws(MalformedBytes) -> UInt8 {
        guard position < bytes.endIndex else { throw MalformedBytes() }
        defer { position += 1 }
        // Safe: the position was checked.
        return bytes[position]
    }

    mutating func take(_ count: Int) throws(MalformedBytes) -> ArraySlice<UInt8> {
        guard count >= 0, count <= bytes.endIndex - position else { throw MalformedBytes() }
        defer { position += count }
        // Safe: what is left was checked.
        return bytes[position..<position + count]
    }

    mutating func number<N: FixedWidthInteger & UnsignedInteger>(
        _: N.Type
    ) throws(MalformedBytes) -> N {
        N(littleEndianBytes: try take(N.bitWidth / 8))
    }

    /// Four bytes of length, then that many.
    mutating func block() throws(MalformedBytes) -> ArraySlice<UInt8> {
        try take(Int(try number(UInt32.self)))
    }

    mutating func text() throws(MalformedBytes) -> String {
        guard let text = String(validating: try block(), as: UTF8.self) else {
            throw MalformedBytes()
        }
        return text
    }
}

extension [UInt8] {
    mutating func append(block: some Collection<UInt8>) {
        append(littleEndian: UInt32(clamping: block.count))
        append(contentsOf: block)
    }
}
