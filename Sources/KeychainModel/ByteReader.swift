// SPDX-License-Identifier: Apache-2.0

/// Bytes that do not follow their format.
package struct MalformedBytes: Error, Equatable {
    package init() {}
}

/// Parses a record or a message from its beginning. Every length is checked against the remaining
/// bytes before it is used; numbers are little-endian.
package struct ByteReader: Sendable {
    private let bytes: ArraySlice<UInt8>
    private var position: Int

    package init(_ bytes: [UInt8]) { self.init(ArraySlice(bytes)) }

    /// A block within other bytes, which is not copied.
    package init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        position = bytes.startIndex
    }

    package var isAtEnd: Bool { position == bytes.endIndex }
    package var left: Int { bytes.endIndex - position }

    package mutating func byte() throws(MalformedBytes) -> UInt8 {
        guard position < bytes.endIndex else { throw MalformedBytes() }
        defer { position += 1 }
        // Safe: the position was checked.
        return bytes[position]
    }

    package mutating func take(_ count: Int) throws(MalformedBytes) -> ArraySlice<UInt8> {
        guard count >= 0, count <= left else { throw MalformedBytes() }
        defer { position += count }
        // Safe: the remaining count was checked.
        return bytes[position..<position + count]
    }

    package mutating func number(_: UInt16.Type) throws(MalformedBytes) -> UInt16 {
        UInt16(truncatingIfNeeded: try littleEndian(2))
    }

    package mutating func number(_: UInt32.Type) throws(MalformedBytes) -> UInt32 {
        UInt32(truncatingIfNeeded: try littleEndian(4))
    }

    package mutating func number(_: UInt64.Type) throws(MalformedBytes) -> UInt64 {
        try littleEndian(8)
    }

    private mutating func littleEndian(_ count: Int) throws(MalformedBytes) -> UInt64 {
        guard count <= left else { throw MalformedBytes() }
        defer { position += count }
        var number = UInt64(0)
        // Safe: the remaining count was checked.
        for place in 0..<count { number |= UInt64(bytes[position + place]) << (8 * UInt64(place)) }
        return number
    }

    /// Reads the number of parts that follow, each of at least so many bytes.
    package mutating func count(ofAtLeast bytes: Int) throws(MalformedBytes) -> Int {
        let count = Int(try number(UInt32.self))
        guard count <= left / max(bytes, 1) else { throw MalformedBytes() }
        return count
    }

    /// Four bytes of length, then that many.
    package mutating func block() throws(MalformedBytes) -> ArraySlice<UInt8> {
        try take(Int(try number(UInt32.self)))
    }

    /// A block of UTF-8, decoded where it lies. `String(validating:as:)` gives the same result
    /// through a generic path, which takes several times as long.
    package mutating func text() throws(MalformedBytes) -> String {
        let count = Int(try number(UInt32.self))
        guard count <= left else { throw MalformedBytes() }
        defer { position += count }
        let start = position - bytes.startIndex
        do {
            // Safe: the remaining count was checked.
            let text = bytes.span.extracting(start..<start + count)
            return String(copying: try UTF8Span(validating: text))
        } catch { throw MalformedBytes() }
    }

    /// The reference to an item of that class, by its identifier.
    package mutating func reference(
        _ itemClass: ItemClass
    ) throws(MalformedBytes) -> ItemReference {
        // An identifier is one big-endian number.
        let high = try number(UInt64.self).byteSwapped
        let low = try number(UInt64.self).byteSwapped
        return ItemReference(itemClass: itemClass, number: UInt128(high) << 64 | UInt128(low))
    }

    /// A block of UTF-8 that is a name.
    package mutating func name() throws(MalformedBytes) -> AttributeName {
        let count = Int(try number(UInt32.self))
        guard count <= left else { throw MalformedBytes() }
        defer { position += count }
        let start = position - bytes.startIndex
        // Safe: the remaining count was checked.
        let name = bytes.span.extracting(start..<start + count)
        do { return AttributeName(try UTF8Span(validating: name)) } catch {
            throw MalformedBytes()
        }
    }
}

/// Writes the format that `ByteReader` reads.
package struct ByteWriter: Sendable {
    package private(set) var bytes: [UInt8] = []

    package init(capacity: Int) { bytes.reserveCapacity(capacity) }

    package mutating func append(_ byte: UInt8) { bytes.append(byte) }

    package mutating func append(raw more: [UInt8]) { bytes.append(contentsOf: more) }

    package mutating func append(identifierOf reference: ItemReference) {
        reference.append(identifierTo: &bytes)
    }

    package mutating func append(number: UInt16) {
        for shift in 0..<2 { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * shift))) }
    }

    package mutating func append(number: UInt32) {
        for shift in 0..<4 { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * shift))) }
    }

    package mutating func append(number: UInt64) {
        for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * shift))) }
    }

    package mutating func append(count: Int) { append(number: UInt32(clamping: count)) }

    package mutating func append(block: [UInt8]) {
        append(count: block.count)
        bytes.append(contentsOf: block)
    }

    package mutating func append(name: AttributeName) {
        append(count: name.byteCount)
        name.append(to: &bytes)
    }

    package mutating func append(text: String) {
        append(count: text.utf8.count)
        bytes.append(contentsOf: text.utf8)
    }
}
