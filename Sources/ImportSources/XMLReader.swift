// SPDX-License-Identifier: Apache-2.0
internal import KeychainImport
internal import KeychainSecrets

/// XML as exports have it, element by element: no document types, which could name other files or
/// grow without end, and no text beside elements.
struct XMLReader {
    private static let deepest = 128
    private static let longestName = 64
    private static let mostAttributes = 16

    private let text: SecretBuffer
    private var position = 0
    /// The elements that have begun and not ended.
    private var open: [String] = []
    /// The last of them has no content: `<Tags/>`.
    private var isEmpty = false
    /// Of the element that began last.
    private var attributes: [(name: String, value: Range<Int>)] = []
    /// Where reading stands.
    private(set) var line = 1

    init(_ text: SecretBuffer) { self.text = text }

    /// The name of the next element in the one that is open; nil where that one ends.
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

    /// The text of the element that is open, which ends with it.
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

    /// Passes over the element that is open, whatever is in it.
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

    /// Whether the element that began last has that attribute, and it says true.
    func says(_ name: String) -> Bool {
        attributes.contains { $0.name == name && text.says("true", in: $0.value) }
    }

    var malformed: ImportError { .malformed(line: line) }

    // MARK: Tags

    /// Behind its `<`.
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

    /// Behind its `</`.
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

    /// No escape is shorter than what it stands for. An end of `\r\n` is `\n`.
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
            let most = position..<min(position + Self.longestEscape, range.upperBound)
            guard let end = text.first(UInt8(ascii: ";"), in: most),
                let scalar = character(position..<end), let bytes = UTF8.encode(scalar)
            else { throw malformed }
            for byte in bytes { _ = plain.append(byte) }
            position = end + 1
        }
        return plain
    }

    /// Digits of the last character, with `#x` before them and `;` behind.
    private static let longestEscape = 10

    /// That is named between `&` and `;`. An escape is no secret.
    private func character(_ range: Range<Int>) -> Unicode.Scalar? {
        guard let name = text.text(range) else { return nil }
        switch name {
        case "lt": return "<"
        case "gt": return ">"
        case "amp": return "&"
        case "quot": return "\""
        case "apos": return "'"
        default:
            let isHexadecimal = name.hasPrefix("#x")
            guard name.hasPrefix("#"),
                let number = UInt32(
                    name.dropFirst(isHexadecimal ? 2 : 1), radix: isHexadecimal ? 16 : 10),
                number > 0
            else { return nil }
            return Unicode.Scalar(number)
        }
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
