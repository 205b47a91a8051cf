// SPDX-License-Identifier: Apache-2.0
package import KeychainSecrets

/// A JSON value whose texts stay in locked memory, where they were read.
package struct SecretJSONValue {
    package indirect enum Content {
        case null
        case flag(Bool)
        case number(SecretJSONText)
        case text(SecretJSONText)
        case list([SecretJSONValue])
        /// In the order in which they are written; no name occurs twice.
        case object([(name: String, value: SecretJSONValue)])
    }

    package let content: Content
    /// The line on which the value begins, counted from 1.
    package let line: Int

    /// A member of an object; nil for other values, and where it is missing or null.
    package subscript(_ name: String) -> SecretJSONValue? {
        guard let member = members.first(where: { $0.name == name })?.value else { return nil }
        if case .null = member.content { return nil }
        return member
    }

    /// The members of an object; empty for other values.
    package var members: [(name: String, value: SecretJSONValue)] {
        if case .object(let members) = content { members } else { [] }
    }

    /// The elements of a list; empty for other values.
    package var elements: [SecretJSONValue] {
        if case .list(let list) = content { list } else { [] }
    }

    /// A text that may be a secret; nil for other values.
    package var text: SecretJSONText? { if case .text(let text) = content { text } else { nil } }

    /// nil for other values than whole numbers of 64 bits.
    package var number: Int64? {
        guard case .number(let text) = content else { return nil }
        return text.secret.plainText.flatMap { Int64($0) }
    }

    /// A member that is a text, which may be a secret.
    package func secret(_ name: String) -> HeldSecret? { self[name]?.text?.secret }

    /// A member that is a text, and no secret.
    package func plainText(_ name: String) -> String? { secret(name)?.plainText }

    package func number(_ name: String) -> Int64? { self[name]?.number }
}

/// A text between its quotes, or the characters of a number: a range of the source, which it keeps
/// alive. The reader has checked each escape.
package struct SecretJSONText {
    private let source: HeldSecret
    private let range: Range<Int>

    init(_ source: HeldSecret, _ range: Range<Int>) {
        self.source = source
        self.range = range
    }

    package var isEmpty: Bool { range.isEmpty }

    /// The text without its escapes.
    package var secret: HeldSecret {
        // No escape is shorter than its character.
        var writer = SecretWriter(capacity: range.count)
        var cursor = SecretCursor(source, range)
        while let byte = cursor.next() {
            guard byte == UInt8(ascii: "\\"), let scalar = JSONEscape.next(&cursor) else {
                writer.append(byte)
                continue
            }
            for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
                writer.append(byte)
            }
        }
        return HeldSecret(writer.finish())
    }
}

/// The character after a backslash.
enum JSONEscape {
    /// nil for an unknown escape; half of a surrogate pair is one.
    static func next(_ cursor: inout SecretCursor) -> Unicode.Scalar? {
        switch cursor.next() {
        case UInt8(ascii: "\""): "\""
        case UInt8(ascii: "\\"): "\\"
        case UInt8(ascii: "/"): "/"
        case UInt8(ascii: "b"): "\u{8}"
        case UInt8(ascii: "f"): "\u{C}"
        case UInt8(ascii: "n"): "\n"
        case UInt8(ascii: "r"): "\r"
        case UInt8(ascii: "t"): "\t"
        case UInt8(ascii: "u"): codePoint(&cursor)
        default: nil
        }
    }

    private static func codePoint(_ cursor: inout SecretCursor) -> Unicode.Scalar? {
        guard let first = codeUnit(&cursor) else { return nil }
        guard UTF16.isLeadSurrogate(first) else { return Unicode.Scalar(first) }
        guard cursor.take(UInt8(ascii: "\\")), cursor.take(UInt8(ascii: "u")),
            let second = codeUnit(&cursor), UTF16.isTrailSurrogate(second)
        else { return nil }
        return Unicode.Scalar(
            0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00))
    }

    private static func codeUnit(_ cursor: inout SecretCursor) -> UInt16? {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = cursor.next(), byte < 0x80,
                let digit = Character(Unicode.Scalar(byte)).hexDigitValue
            else { return nil }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }
}
