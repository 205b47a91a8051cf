// SPDX-License-Identifier: Apache-2.0
package import KeychainSecrets

/// Reads one JSON value (RFC 8259) and refuses anything else: comments, a second value, a name that
/// occurs twice, a text that is not well-formed.
package struct SecretJSONReader {
    /// The error has the place, and nothing of the content.
    package struct Malformed: Error, Equatable {
        /// The number of bytes before it.
        package let place: Int
        package let line: Int
    }

    /// The limits of a text, whatever its length.
    package struct Bounds: Sendable {
        let deepest: Int
        /// Limited, since each value takes memory of its own.
        let mostValues: Int

        package init(deepest: Int, mostValues: Int) {
            self.deepest = deepest
            self.mostValues = mostValues
        }
    }

    private static let longestNumberPart = 64

    private let source: HeldSecret
    private let bounds: Bounds
    private var cursor: SecretCursor
    private var line = 1
    private var depth = 0
    private var values = 0

    package static func value(
        of input: HeldSecret, _ bounds: Bounds
    ) throws(Malformed) -> SecretJSONValue {
        var reader = SecretJSONReader(input, bounds)
        guard input.isText else { throw reader.malformed }
        let value = try reader.value()
        reader.passBlanks()
        guard reader.cursor.peeked == nil else { throw reader.malformed }
        return value
    }

    private init(_ input: HeldSecret, _ bounds: Bounds) {
        source = input
        self.bounds = bounds
        cursor = SecretCursor(input)
    }

    private var malformed: Malformed { Malformed(place: cursor.place, line: line) }

    /// Counts lines here only, since texts have no line ends.
    private mutating func passBlanks() {
        while let byte = cursor.peeked, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
        {
            if byte == 0x0A { line += 1 }
            _ = cursor.next()
        }
    }

    private mutating func value() throws(Malformed) -> SecretJSONValue {
        values += 1
        guard values <= bounds.mostValues else { throw malformed }
        passBlanks()
        let line = line
        return SecretJSONValue(content: try content(), line: line)
    }

    private mutating func content() throws(Malformed) -> SecretJSONValue.Content {
        switch cursor.peeked {
        case UInt8(ascii: "{"):
            return .object(try nested { (r) throws(Malformed) in try r.object() })
        case UInt8(ascii: "["): return .list(try nested { (r) throws(Malformed) in try r.list() })
        case UInt8(ascii: "\""): return .text(try text())
        case UInt8(ascii: "t"): return try word("true", .flag(true))
        case UInt8(ascii: "f"): return try word("false", .flag(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func nested<R>(
        _ body: (inout SecretJSONReader) throws(Malformed) -> R
    ) throws(Malformed) -> R {
        guard depth < bounds.deepest else { throw malformed }
        depth += 1
        let value = try body(&self)
        depth -= 1
        return value
    }

    private mutating func expect(_ byte: Character) throws(Malformed) {
        passBlanks()
        guard let byte = byte.asciiValue, cursor.take(byte) else { throw malformed }
    }

    private mutating func takes(_ byte: Character) -> Bool {
        passBlanks()
        return byte.asciiValue.map { cursor.take($0) } ?? false
    }

    private mutating func object() throws(Malformed) -> [(name: String, value: SecretJSONValue)] {
        try expect("{")
        var members: [(name: String, value: SecretJSONValue)] = []
        var names: Set<String> = []
        if takes("}") { return members }
        repeat {
            passBlanks()
            guard let name = try text().secret.plainText, names.insert(name).inserted else {
                throw malformed
            }
            try expect(":")
            members.append((name, try value()))
        } while takes(",")
        try expect("}")
        return members
    }

    private mutating func list() throws(Malformed) -> [SecretJSONValue] {
        try expect("[")
        var elements: [SecretJSONValue] = []
        if takes("]") { return elements }
        repeat { elements.append(try value()) } while takes(",")
        try expect("]")
        return elements
    }

    private mutating func word(
        _ word: String, _ value: SecretJSONValue.Content
    ) throws(Malformed) -> SecretJSONValue.Content {
        for byte in word.utf8 { guard cursor.take(byte) else { throw malformed } }
        return value
    }

    /// The characters of a number, in JSON's order.
    private mutating func number() throws(Malformed) -> SecretJSONText {
        let start = cursor.place
        _ = cursor.take(UInt8(ascii: "-"))
        let startsWithZero = cursor.peeked == UInt8(ascii: "0")
        let digits = try digits()
        guard digits == 1 || !startsWithZero else { throw malformed }
        if cursor.take(UInt8(ascii: ".")) { _ = try self.digits() }
        if cursor.take(UInt8(ascii: "e")) || cursor.take(UInt8(ascii: "E")) {
            if !cursor.take(UInt8(ascii: "+")) { _ = cursor.take(UInt8(ascii: "-")) }
            _ = try self.digits()
        }
        return SecretJSONText(source, start..<cursor.place)
    }

    /// The number of digits, which is at least one.
    private mutating func digits() throws(Malformed) -> Int {
        let start = cursor.place
        while let byte = cursor.peeked, (0x30...0x39).contains(byte) {
            guard cursor.place - start < Self.longestNumberPart else { throw malformed }
            _ = cursor.next()
        }
        guard cursor.place > start else { throw malformed }
        return cursor.place - start
    }

    private mutating func text() throws(Malformed) -> SecretJSONText {
        guard cursor.take(UInt8(ascii: "\"")) else { throw malformed }
        let start = cursor.place
        while let byte = cursor.next() {
            switch byte {
            case UInt8(ascii: "\""): return SecretJSONText(source, start..<cursor.place - 1)
            case UInt8(ascii: "\\"):
                guard JSONEscape.next(&cursor) != nil else { throw malformed }
            case 0..<0x20: throw malformed
            default: break
            }
        }
        throw malformed
    }
}
