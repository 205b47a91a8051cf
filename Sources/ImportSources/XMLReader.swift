// SPDX-License-Identifier: Apache-2.0
internal import KeychainImport
internal import KeychainSecrets

/// XML of exports, element by element: without document types, which could name other files or
/// expand without end, and without text beside elements, but in skipped ones.
struct XMLReader {
    private static let deepest = 128
    private static let longestName = 64
    private static let mostAttributes = 16

    private let text: SecretBuffer
    private var position = 0
    /// The open elements, the innermost last.
    private var open: [String] = []
    /// Whether the innermost element has no content: `<Tags/>`.
    private var isEmpty = false
    /// The attributes of the element that began last.
    private var attributes: [(name: String, value: Range<Int>)] = []
    /// The line of the reading position.
    private(set) var line = 1

    init(_ text: SecretBuffer) { self.text = text }

    /// The name of the next child of the innermost element; nil at its end.
    mutating func child() throws(ImportError) -> String? {
        if isEmpty {
            end()
            return nil
        }
        while true {
            try skipSpaces()
            guard position < text.count else {
                guard open.isEmpty else { throw malformed }
                return nil
            }
            if take("<?") {
                try skip(behind: "?>")
            } else if take("<!--") {
                try skip(behind: "-->")
            } else if take("</") {
                try endTag()
                return nil
            } else if take("<") {
                return try beginTag()
            } else {
                throw malformed
            }
        }
    }

    /// The text of the innermost element, up to its end.
    mutating func content() throws(ImportError) -> SecretBuffer {
        guard !isEmpty else {
            end()
            return SecretBuffer(limit: 1)
        }
        let start = position
        while position < text.count, text.byte(position) != UInt8(ascii: "<") { advance() }
        let content = try unescaped(start..<position)
        guard take("</") else { throw malformed }
        try endTag()
        return content
    }

    /// Skips the rest of the innermost element.
    mutating func skip() throws(ImportError) {
        let depth = open.count
        while open.count >= depth {
            if isEmpty {
                end()
                continue
            }
            while position < text.count, text.byte(position) != UInt8(ascii: "<") { advance() }
            guard position < text.count else { throw malformed }
            _ = try child()
        }
    }

    /// Whether the element that began last has this attribute with the value true.
    func says(_ name: String) -> Bool {
        attributes.contains { $0.name == name && text.says("true", in: $0.value) }
    }

    var malformed: ImportError { .malformed(line: line) }

    // MARK: Tags

    /// Reads a start tag after its `<`.
    private mutating func beginTag() throws(ImportError) -> String {
        let name = try self.name()
        guard open.count < Self.deepest else { throw malformed }
        open.append(name)
        attributes = []
        while true {
            try skipSpaces()
            if take(">") { return name }
            if take("/>") {
                isEmpty = true
                return name
            }
            guard attributes.count < Self.mostAttributes else { throw malformed }
            try attributes.append(attribute())
        }
    }

    private mutating func attribute() throws(ImportError) -> (name: String, value: Range<Int>) {
        let name = try self.name()
        try skipSpaces()
        guard take("=") else { throw malformed }
        try skipSpaces()
        guard position < text.count else { throw malformed }
        let quote = text.byte(position)
        guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { throw malformed }
        advance()
        let start = position
        while position < text.count, text.byte(position) != quote { advance() }
        guard position < text.count else { throw malformed }
        advance()
        return (name, start..<position - 1)
    }

    /// Reads an end tag after its `</`.
    private mutating func endTag() throws(ImportError) {
        let name = try self.name()
        try skipSpaces()
        guard open.last == name, take(">") else { throw malformed }
        end()
    }

    private mutating func end() {
        open.removeLast()
        isEmpty = false
    }

    private mutating func name() throws(ImportError) -> String {
        let start = position
        while position < text.count, Self.isOfName(text.byte(position)) { advance() }
        guard position > start, position - start <= Self.longestName,
            let name = text.text(start..<position)
        else { throw malformed }
        return name
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"),
            UInt8(ascii: "."), UInt8(ascii: ":"):
            true
        default: false
        }
    }

    // MARK: Text

    /// No escape is shorter than its character. A line end of `\r\n` becomes `\n`.
    private func unescaped(_ range: Range<Int>) throws(ImportError) -> SecretBuffer {
        let plain = SecretBuffer(limit: max(1, range.count))
        var position = range.lowerBound
        while position < range.upperBound {
            let byte = text.byte(position)
            position += 1
            if byte == 0x0D, position < range.upperBound, text.byte(position) == 0x0A { continue }
            guard byte == UInt8(ascii: "&") else {
                _ = plain.append(byte)
                continue
            }
            guard let (scalar, end) = character(in: position..<range.upperBound),
                let bytes = UTF8.encode(scalar)
            else { throw malformed }
            for byte in bytes { _ = plain.append(byte) }
            position = end
        }
        return plain
    }

    /// The bytes of the last character's escape with its `;`: `#x10FFFF;` and `#1114111;`.
    private static let longestEscape = 9
    private static let named: [(name: String, character: Unicode.Scalar)] = [
        ("lt", "<"), ("gt", ">"), ("amp", "&"), ("quot", "\""), ("apos", "'"),
    ]

    /// The character of an escape, and the index after its `;`. It may be part of a password, so
    /// its bytes are read in place.
    private func character(in range: Range<Int>) -> (Unicode.Scalar, end: Int)? {
        guard let end = text.first(UInt8(ascii: ";"), in: range.prefix(Self.longestEscape)) else {
            return nil
        }
        let name = range.lowerBound..<end
        if let number = number(name) {
            guard number > 0, let scalar = Unicode.Scalar(number) else { return nil }
            return (scalar, end + 1)
        }
        return Self.named.first { isThere($0.name, name) }.map { ($0.character, end + 1) }
    }

    /// Only digits after `#`, or hexadecimal digits after `#x`. The longest escape has too few
    /// digits for a number that is too large.
    private func number(_ name: Range<Int>) -> UInt32? {
        guard let first = name.first, text.byte(first) == UInt8(ascii: "#") else { return nil }
        var digits = name.dropFirst()
        var base: UInt32 = 10
        if let first = digits.first, text.byte(first) == UInt8(ascii: "x") {
            digits = digits.dropFirst()
            base = 16
        }
        guard !digits.isEmpty else { return nil }
        var number: UInt32 = 0
        for position in digits {
            guard let digit = Self.digit(text.byte(position)), digit < base else { return nil }
            number = number * base + digit
        }
        return number
    }

    private static func digit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a")) + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A")) + 10
        default: nil
        }
    }

    private func isThere(_ word: String, _ range: Range<Int>) -> Bool {
        range.count == word.utf8.count && zip(range, word.utf8).allSatisfy { text.byte($0) == $1 }
    }

    // MARK: Bytes

    private mutating func advance() {
        if text.byte(position) == 0x0A { line += 1 }
        position += 1
    }

    private mutating func skipSpaces() throws(ImportError) {
        while position < text.count, text.isSpace(position) || text.byte(position) == 0x0A {
            advance()
        }
    }

    private func stands(_ word: String) -> Bool {
        position + word.utf8.count <= text.count
            && zip(position..., word.utf8).allSatisfy { text.byte($0) == $1 }
    }

    private mutating func take(_ word: String) -> Bool {
        guard stands(word) else { return false }
        position += word.utf8.count
        return true
    }

    private mutating func skip(behind word: String) throws(ImportError) {
        while position < text.count, !stands(word) { advance() }
        guard take(word) else { throw malformed }
    }
}
