// SPDX-License-Identifier: Apache-2.0
internal import PolicySyntax

/// Reads one JSON value as values of the language: numbers and booleans as they are written. What
/// other readers let pass and could read in two ways is refused: a key that stands twice, `null`.
struct JSONReader {
    static let greatestDepth = 16

    struct Mistake: Error {
        let message: String
    }

    private let bytes: [UInt8]
    private var position = 0

    static func read(_ text: some StringProtocol) throws(Mistake) -> YAMLNode {
        var reader = JSONReader(Array(text.utf8))
        let value = try reader.value(depth: 1)
        reader.skipBlanks()
        guard reader.position == reader.bytes.count else { throw reader.unexpected() }
        return value
    }

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

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

    private mutating func value(depth: Int) throws(Mistake) -> YAMLNode {
        guard depth <= Self.greatestDepth else {
            throw Mistake(message: "nested deeper than \(Self.greatestDepth) levels")
        }
        skipBlanks()
        switch next {
        case UInt8(ascii: "{"): return node(.mapping(try entries(depth)))
        case UInt8(ascii: "["): return node(.list(try items(depth)))
        case UInt8(ascii: "\""): return node(.scalar(try text()))
        default: return node(.scalar(try word()))
        }
    }

    private func node(_ content: YAMLNode.Content) -> YAMLNode {
        YAMLNode(content: content, place: SourcePlace(line: 1, column: position))
    }

    private mutating func entries(_ depth: Int) throws(Mistake) -> [YAMLEntry] {
        position += 1
        var entries: [YAMLEntry] = []
        var keys: Set<[UInt8]> = []
        if take("}") { return [] }
        repeat {
            skipBlanks()
            guard next == UInt8(ascii: "\"") else { throw unexpected() }
            let key = try text()
            guard keys.insert(Array(key.utf8)).inserted else {
                throw Mistake(message: "the key \"\(key)\" stands twice in one object")
            }
            guard take(":") else { throw unexpected() }
            let value = try value(depth: depth + 1)
            entries.append(YAMLEntry(key: key, place: value.place, value: value))
        } while take(",")
        guard take("}") else { throw unexpected() }
        return entries
    }

    private mutating func items(_ depth: Int) throws(Mistake) -> [YAMLNode] {
        position += 1
        var items: [YAMLNode] = []
        if take("]") { return [] }
        repeat { items.append(try value(depth: depth + 1)) } while take(",")
        guard take("]") else { throw unexpected() }
        return items
    }

    private mutating func word() throws(Mistake) -> String {
        let start = position
        while let byte = next, Self.isWord(byte) { position += 1 }
        let word = String(decoding: bytes[start..<position], as: UTF8.self)
        switch word {
        case "true", "false": return word
        case "null": throw Mistake(message: "null is no value: leave the key out")
        default:
            guard Self.isNumber(word) else {
                position = start
                throw unexpected()
            }
            return word
        }
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2D, 0x2E: true
        default: false
        }
    }

    /// Whole numbers are all that a request has.
    private static func isNumber(_ word: String) -> Bool {
        let digits = word.utf8.first == UInt8(ascii: "-") ? word.utf8.dropFirst() : word.utf8[...]
        guard let first = digits.first, digits.count == 1 || first != 0x30 else { return false }
        return digits.allSatisfy { (0x30...0x39).contains($0) }
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

    /// What `\uXXXX` writes, or two of them together.
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
