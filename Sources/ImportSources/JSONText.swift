// SPDX-License-Identifier: Apache-2.0
internal import KeychainImport
internal import KeychainSecrets

/// JSON where it lies: texts are places in locked memory until they are asked for.
struct JSONText {
    indirect enum Value {
        case object([(key: String, value: Value)])
        case list([Value])
        /// Between the quotes.
        case text(Range<Int>)
        case number(Range<Int>)
        case bool(Bool)
        case null
    }

    private static let deepest = 64

    let buffer: SecretBuffer
    private var position = 0

    /// The value that is all of the text.
    static func value(_ buffer: SecretBuffer) throws(ImportError) -> (JSONText, Value) {
        var text = JSONText(buffer: buffer)
        let value = try text.value(depth: 0)
        text.skipSpaces()
        guard text.position == buffer.count else { throw text.malformed }
        return (text, value)
    }

    private init(buffer: SecretBuffer) { self.buffer = buffer }

    private var malformed: ImportError {
        .malformed(line: buffer.number(ofLineAt: min(position, buffer.count)))
    }

    private mutating func skipSpaces() {
        while position < buffer.count,
            buffer.isSpace(position) || buffer.byte(position) == 0x0A
        { position += 1 }
    }

    private mutating func value(depth: Int) throws(ImportError) -> Value {
        skipSpaces()
        guard depth < Self.deepest, position < buffer.count else { throw malformed }
        switch buffer.byte(position) {
        case UInt8(ascii: "{"): return try object(depth)
        case UInt8(ascii: "["): return try list(depth)
        case UInt8(ascii: "\""): return .text(try quoted())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func object(_ depth: Int) throws(ImportError) -> Value {
        var members: [(key: String, value: Value)] = []
        try elements(closing: UInt8(ascii: "}")) { text throws(ImportError) in
            guard text.position < text.buffer.count,
                text.buffer.byte(text.position) == UInt8(ascii: "\"")
            else { throw text.malformed }
            let key = text.decoded(try text.quoted())
            text.skipSpaces()
            try text.take(UInt8(ascii: ":"))
            members.append((key, try text.value(depth: depth + 1)))
        }
        return .object(members)
    }

    private mutating func list(_ depth: Int) throws(ImportError) -> Value {
        var values: [Value] = []
        try elements(closing: UInt8(ascii: "]")) { text throws(ImportError) in
            values.append(try text.value(depth: depth + 1))
        }
        return .list(values)
    }

    /// What stands between an opening brace and its closing one, with commas between.
    private mutating func elements(
        closing: UInt8, _ body: (inout JSONText) throws(ImportError) -> Void
    ) throws(ImportError) {
        position += 1
        skipSpaces()
        if position < buffer.count, buffer.byte(position) == closing {
            position += 1
            return
        }
        while true {
            skipSpaces()
            try body(&self)
            skipSpaces()
            guard position < buffer.count else { throw malformed }
            if buffer.byte(position) == closing {
                position += 1
                return
            }
            try take(UInt8(ascii: ","))
        }
    }

    private mutating func take(_ byte: UInt8) throws(ImportError) {
        guard position < buffer.count, buffer.byte(position) == byte else { throw malformed }
        position += 1
    }

    private mutating func word(_ word: String, _ value: Value) throws(ImportError) -> Value {
        for byte in word.utf8 { try take(byte) }
        return value
    }

    private mutating func number() throws(ImportError) -> Value {
        let start = position
        while position < buffer.count, Self.numberBytes.contains(buffer.byte(position)) {
            position += 1
        }
        guard position > start else { throw malformed }
        return .number(start..<position)
    }

    private static let numberBytes = Set("+-.0123456789eE".utf8)

    private mutating func quoted() throws(ImportError) -> Range<Int> {
        position += 1
        let start = position
        while position < buffer.count {
            switch buffer.byte(position) {
            case UInt8(ascii: "\""):
                position += 1
                return start..<position - 1
            case UInt8(ascii: "\\"): position += 2
            case 0..<0x20: throw malformed
            default: position += 1
            }
        }
        throw malformed
    }

    /// A text that is no secret.
    func decoded(_ range: Range<Int>) -> String {
        let text = unescaped(range)
        return text.text(0..<text.count) ?? ""
    }

    func secret(_ range: Range<Int>) -> HeldSecret { HeldSecret(unescaped(range).contents) }

    private func unescaped(_ range: Range<Int>) -> SecretBuffer {
        // No escape is shorter than what it stands for.
        let text = SecretBuffer(limit: max(1, range.count))
        var position = range.lowerBound
        while position < range.upperBound {
            let byte = buffer.byte(position)
            position += 1
            guard byte == UInt8(ascii: "\\"), position < range.upperBound else {
                _ = text.append(byte)
                continue
            }
            let code = buffer.byte(position)
            position += 1
            switch code {
            case UInt8(ascii: "n"): _ = text.append(0x0A)
            case UInt8(ascii: "r"): _ = text.append(0x0D)
            case UInt8(ascii: "t"): _ = text.append(0x09)
            case UInt8(ascii: "b"): _ = text.append(0x08)
            case UInt8(ascii: "f"): _ = text.append(0x0C)
            case UInt8(ascii: "u"):
                let scalar = scalar(&position, range.upperBound)
                _ = text.append(String(Character(scalar)))
            default: _ = text.append(code)
            }
        }
        return text
    }

    /// Four digits, or two times four with `\u` between; the replacement character for half a pair.
    private func scalar(_ position: inout Int, _ end: Int) -> Unicode.Scalar {
        guard let first = unit(position, end) else { return "\u{FFFD}" }
        position += 4
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard (0xD800..<0xDC00).contains(first), position + 6 <= end,
            buffer.byte(position) == UInt8(ascii: "\\"),
            buffer.byte(position + 1) == UInt8(ascii: "u"),
            let second = unit(position + 2, end), (0xDC00..<0xE000).contains(second)
        else { return "\u{FFFD}" }
        position += 6
        let value = 0x10000 + (UInt32(first - 0xD800) << 10) + UInt32(second - 0xDC00)
        return Unicode.Scalar(value) ?? "\u{FFFD}"
    }

    private func unit(_ position: Int, _ end: Int) -> UInt16? {
        guard position + 4 <= end, let digits = buffer.text(position..<position + 4) else {
            return nil
        }
        return UInt16(digits, radix: 16)
    }
}

extension JSONText.Value {
    /// The first member of that name; `null` counts as none.
    subscript(_ key: String) -> JSONText.Value? {
        guard case .object(let members) = self,
            let value = members.first(where: { $0.key == key })?.value
        else { return nil }
        if case .null = value { return nil }
        return value
    }

    var members: [(key: String, value: JSONText.Value)] {
        if case .object(let members) = self { members } else { [] }
    }

    var elements: [JSONText.Value] { if case .list(let values) = self { values } else { [] } }

    /// nil for what is no text.
    func text(_ json: JSONText) -> String? {
        if case .text(let range) = self { json.decoded(range) } else { nil }
    }

    /// Texts and numbers; nil for what is neither, or empty.
    func secret(_ json: JSONText) -> HeldSecret? {
        switch self {
        case .text(let range) where !range.isEmpty: json.secret(range)
        case .number(let range): json.buffer.secret(range)
        default: nil
        }
    }

    /// Where a text stands that is written as it is; else the beginning.
    func line(_ json: JSONText) -> Int {
        switch self {
        case .text(let range), .number(let range):
            json.buffer.number(ofLineAt: range.lowerBound)
        case .object(let members): members.first?.value.line(json) ?? 1
        case .list(let values): values.first?.line(json) ?? 1
        case .bool, .null: 1
        }
    }
}
