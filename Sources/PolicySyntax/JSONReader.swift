// SPDX-License-Identifier: Apache-2.0

/// Reads one JSON value (RFC 8259). A key that occurs twice is refused: other readers accept it,
/// and read it in two ways.
package struct JSONReader {
    /// The limits of a text.
    package struct Bounds: Sendable {
        let deepest: Int
        /// Limited, since each value takes memory of its own.
        let mostValues: Int

        package init(deepest: Int, mostValues: Int) {
            self.deepest = deepest
            self.mostValues = mostValues
        }
    }

    package struct Mistake: Error {
        package let message: String

        package init(message: String) { self.message = message }
    }

    private let bytes: [UInt8]
    private let bounds: Bounds
    private var position = 0
    private var values = 0

    package static func read(
        _ bytes: [UInt8], _ bounds: Bounds
    ) throws(Mistake) -> JSONValue {
        var reader = JSONReader(bytes, bounds)
        let value = try reader.value(depth: 1)
        reader.skipBlanks()
        guard reader.position == reader.bytes.count else { throw reader.unexpected() }
        return value
    }

    private init(_ bytes: [UInt8], _ bounds: Bounds) {
        self.bytes = bytes
        self.bounds = bounds
    }

    // MARK: Bytes

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipBlanks() {
        while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipBlanks()
        guard next == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private func unexpected() -> Mistake {
        Mistake(message: "this is not JSON: at column \(position + 1)")
    }

    // MARK: Values

    private mutating func value(depth: Int) throws(Mistake) -> JSONValue {
        values += 1
        guard depth <= bounds.deepest else {
            throw Mistake(message: "nested deeper than \(bounds.deepest) levels")
        }
        guard values <= bounds.mostValues else {
            throw Mistake(message: "more than \(bounds.mostValues) values")
        }
        skipBlanks()
        switch next {
        case UInt8(ascii: "{"): return .object(try members(depth))
        case UInt8(ascii: "["): return .list(try items(depth))
        case UInt8(ascii: "\""): return .text(try text())
        default: return try word()
        }
    }

    private mutating func members(_ depth: Int) throws(Mistake) -> [JSONValue.Member] {
        position += 1
        var members: [JSONValue.Member] = []
        var names: Set<[UInt8]> = []
        if take("}") { return [] }
        repeat {
            skipBlanks()
            guard next == UInt8(ascii: "\"") else { throw unexpected() }
            let name = try text()
            guard names.insert(Array(name.utf8)).inserted else {
                throw Mistake(message: "the key \"\(name)\" stands twice in one object")
            }
            guard take(":") else { throw unexpected() }
            members.append(JSONValue.Member(name, try value(depth: depth + 1)))
        } while take(",")
        guard take("}") else { throw unexpected() }
        return members
    }

    private mutating func items(_ depth: Int) throws(Mistake) -> [JSONValue] {
        position += 1
        var items: [JSONValue] = []
        if take("]") { return [] }
        repeat { items.append(try value(depth: depth + 1)) } while take(",")
        guard take("]") else { throw unexpected() }
        return items
    }

    private mutating func word() throws(Mistake) -> JSONValue {
        let start = position
        while let byte = next, Self.isWord(byte) { position += 1 }
        let word = String(decoding: bytes[start..<position], as: UTF8.self)
        switch word {
        case "true": return .flag(true)
        case "false": return .flag(false)
        case "null": return .null
        default:
            guard Self.isNumber(word) else {
                position = start
                throw unexpected()
            }
            return .number(word)
        }
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2D, 0x2E: true
        default: false
        }
    }

    /// Whether the word has digits without a leading zero, then a fraction and an exponent.
    private static func isNumber(_ word: String) -> Bool {
        var rest = word.utf8[...]
        func digits() -> Int {
            let count = rest.prefix { (0x30...0x39).contains($0) }.count
            rest = rest.dropFirst(count)
            return count
        }
        if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        let startsWithZero = rest.first == 0x30
        let whole = digits()
        guard whole == 1 || (whole > 1 && !startsWithZero) else { return false }
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            guard digits() > 0 else { return false }
        }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest = rest.dropFirst()
            if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") {
                rest = rest.dropFirst()
            }
            guard digits() > 0 else { return false }
        }
        return rest.isEmpty
    }

    // MARK: Texts

    private mutating func text() throws(Mistake) -> String {
        position += 1
        var text: [UInt8] = []
        while let byte = next {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): text += try escaped()
            case 0..<0x20: throw unexpected()
            default: text.append(byte)
            }
        }
        throw unexpected()
    }

    private mutating func escaped() throws(Mistake) -> [UInt8] {
        guard let byte = next else { throw unexpected() }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [byte]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"): return Array(String(try scalar()).utf8)
        default: throw unexpected()
        }
    }

    /// The scalar written as `\uXXXX`, or as two of them together.
    private mutating func scalar() throws(Mistake) -> Unicode.Scalar {
        let first = try unit()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard next == UInt8(ascii: "\\") else { throw unexpected() }
        position += 1
        guard next == UInt8(ascii: "u") else { throw unexpected() }
        position += 1
        let second = try unit()
        guard (0xD800..<0xDC00).contains(first), (0xDC00..<0xE000).contains(second),
            let scalar = Unicode.Scalar(
                0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00))
        else { throw unexpected() }
        return scalar
    }

    private mutating func unit() throws(Mistake) -> UInt16 {
        let digits = bytes[position...].prefix(4)
        let isHexadecimal = digits.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte)
                || (0x61...0x66).contains(byte)
        }
        guard digits.count == 4, isHexadecimal,
            let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw unexpected() }
        position += 4
        return unit
    }
}
