// SPDX-License-Identifier: Apache-2.0
internal import KeychainSecrets

/// A JSON value whose texts stay in locked memory.
enum JSONValue {
    case null
    case flag(Bool)
    /// nil for one that is no whole number of 64 bits.
    case number(Int64?)
    case text(HeldSecret)
    case list([JSONValue])
    case object([String: JSONValue])

    /// An object that a tool said.
    init(request: HeldSecret) throws(HelperFailure) {
        do throws(JSONReader.Malformed) { self = try JSONReader.value(of: request) } catch {
            throw .badInput("the request is no JSON (at byte \(error.place))")
        }
        guard case .object = self else { throw .badInput("the request is no JSON object") }
    }

    /// A member of an object; nil of other values, and where it is missing or null.
    subscript(_ name: String) -> JSONValue? {
        guard case .object(let members) = self, let member = members[name] else { return nil }
        if case .null = member { return nil }
        return member
    }

    /// A text that may be a secret.
    func secret(_ name: String) -> HeldSecret? {
        guard case .text(let secret)? = self[name] else { return nil }
        return secret
    }

    /// A text that is none.
    func plainText(_ name: String) -> String? { secret(name)?.plainText }

    func number(_ name: String) -> Int64? {
        guard case .number(let number)? = self[name] else { return nil }
        return number
    }
}

/// Reads one JSON value (RFC 8259) and takes nothing else: no comment, no second value, no name twice,
/// no text that is not well-formed.
struct JSONReader {
    /// It says where, and nothing of what stands there.
    struct Malformed: Error, Equatable {
        let place: Int
    }

    private static let deepest = 32
    /// Each value takes memory of its own, however few bytes it has in the text.
    private static let mostValues = 4096

    private var cursor: SecretCursor
    private var depth = 0
    private var values = 0

    static func value(of input: HeldSecret) throws(Malformed) -> JSONValue {
        var reader = JSONReader(input)
        guard input.isText else { throw reader.malformed }
        let value = try reader.value()
        reader.passBlanks()
        guard reader.cursor.peeked == nil else { throw reader.malformed }
        return value
    }

    private init(_ input: HeldSecret) {
        cursor = SecretCursor(input)
    }

    private var malformed: Malformed { Malformed(place: cursor.place) }

    private mutating func passBlanks() {
        while let byte = cursor.peeked, [0x20, 0x09, 0x0A, 0x0D].contains(byte) {
            _ = cursor.next()
        }
    }

    private mutating func value() throws(Malformed) -> JSONValue {
        values += 1
        guard values <= Self.mostValues else { throw malformed }
        passBlanks()
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
        _ body: (inout JSONReader) throws(Malformed) -> R
    ) throws(Malformed) -> R {
        guard depth < Self.deepest else { throw malformed }
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
        guard let byte = byte.asciiValue else { return false }
        return cursor.take(byte)
    }

    private mutating func object() throws(Malformed) -> [String: JSONValue] {
        try expect("{")
        var members: [String: JSONValue] = [:]
        if takes("}") { return members }
        repeat {
            passBlanks()
            guard let name = try text().plainText, members[name] == nil else { throw malformed }
            try expect(":")
            members[name] = try value()
        } while takes(",")
        try expect("}")
        return members
    }

    private mutating func list() throws(Malformed) -> [JSONValue] {
        try expect("[")
        var elements: [JSONValue] = []
        if takes("]") { return elements }
        repeat { elements.append(try value()) } while takes(",")
        try expect("]")
        return elements
    }

    private mutating func word(
        _ word: String, _ value: JSONValue
    ) throws(Malformed) -> JSONValue {
        for byte in word.utf8 { guard cursor.take(byte) else { throw malformed } }
        return value
    }

    /// The characters of a number, in the one order in which JSON has them.
    private mutating func number() throws(Malformed) -> Int64? {
        var digits = ""
        if cursor.take(UInt8(ascii: "-")) { digits = "-" }
        let whole = try self.digits()
        guard whole == "0" || !whole.hasPrefix("0") else { throw malformed }
        digits += whole
        var isWhole = true
        if cursor.take(UInt8(ascii: ".")) {
            isWhole = false
            _ = try self.digits()
        }
        if cursor.take(UInt8(ascii: "e")) || cursor.take(UInt8(ascii: "E")) {
            isWhole = false
            if !cursor.take(UInt8(ascii: "+")) { _ = cursor.take(UInt8(ascii: "-")) }
            _ = try self.digits()
        }
        return isWhole ? Int64(digits) : nil
    }

    private mutating func digits() throws(Malformed) -> String {
        let longest = 64
        var digits = ""
        while let byte = cursor.peeked, (0x30...0x39).contains(byte) {
            guard digits.utf8.count < longest else { throw malformed }
            digits.unicodeScalars.append(Unicode.Scalar(byte))
            _ = cursor.next()
        }
        guard !digits.isEmpty else { throw malformed }
        return digits
    }

    /// The text is not longer than what it is written as.
    private mutating func text() throws(Malformed) -> HeldSecret {
        guard cursor.take(UInt8(ascii: "\"")) else { throw malformed }
        var writer = SecretWriter(capacity: try writtenLength())
        while let byte = cursor.next() {
            switch byte {
            case UInt8(ascii: "\""): return HeldSecret(writer.finish())
            case UInt8(ascii: "\\"):
                for byte in Array(String(try escaped()).utf8) { writer.append(byte) }
            default: writer.append(byte)
            }
        }
        throw malformed
    }

    /// Bytes from here to the quote that ends the text.
    private func writtenLength() throws(Malformed) -> Int {
        var ahead = cursor
        while let byte = ahead.next() {
            switch byte {
            case UInt8(ascii: "\""): return ahead.place - cursor.place - 1
            case UInt8(ascii: "\\"): _ = ahead.next()
            case 0..<0x20: throw Malformed(place: ahead.place)
            default: break
            }
        }
        throw Malformed(place: ahead.place)
    }

    /// The character behind a backslash.
    private mutating func escaped() throws(Malformed) -> Unicode.Scalar {
        switch cursor.next() {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try codePoint()
        default: throw malformed
        }
    }

    private mutating func codePoint() throws(Malformed) -> Unicode.Scalar {
        let first = try codeUnit()
        if UTF16.isLeadSurrogate(first) {
            guard cursor.take(UInt8(ascii: "\\")), cursor.take(UInt8(ascii: "u")) else {
                throw malformed
            }
            let second = try codeUnit()
            guard UTF16.isTrailSurrogate(second) else { throw malformed }
            let value = 0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00)
            guard let scalar = Unicode.Scalar(value) else { throw malformed }
            return scalar
        }
        guard let scalar = Unicode.Scalar(first) else { throw malformed }
        return scalar
    }

    private mutating func codeUnit() throws(Malformed) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = cursor.next(),
                let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80
            else { throw malformed }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }
}
