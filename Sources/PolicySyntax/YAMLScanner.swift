// SPDX-License-Identifier: Apache-2.0

/// Divides a file into tokens without building anything, so that text outside of the profile is
/// found before a parser does unbounded work, and so that the formatter sees the comments. It
/// follows libyaml's rules for where a token begins and ends; the parser checks the grammar.
package struct YAMLScanner {
    package let bytes: [UInt8]
    package private(set) var position = 0
    package private(set) var line = 0
    private var lineStart = 0
    /// Columns of the block collections that are open.
    package private(set) var blocks: [Int] = []
    package private(set) var flowDepth = 0
    /// The last scalar, which a `:` on the same line makes a key.
    private var lastScalar: YAMLToken?

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// nil at the end of the file.
    package mutating func next() -> YAMLToken? {
        let isLineStart = skipBlanks()
        guard let first = byte() else { return nil }
        if first == UInt8(ascii: "#") { return token(.comment) { $0.position = $0.lineEnd } }
        if isLineStart, flowDepth == 0 { close(deeperThan: column) }
        if column == 0, let marker = documentMarker(first) { return marker }
        if let indicator = indicator(first) { return indicator }
        let scalar = scalar(first)
        lastScalar = scalar
        return scalar
    }

    // MARK: Bytes

    private var column: Int { position - lineStart }

    private func byte(_ ahead: Int = 0) -> UInt8? {
        position + ahead < bytes.count ? bytes[position + ahead] : nil
    }

    private static let space = UInt8(ascii: " ")
    private static let newline = UInt8(ascii: "\n")

    /// Whether a blank or an end follows.
    private func isBlank(_ ahead: Int) -> Bool {
        guard let byte = byte(ahead) else { return true }
        return byte == Self.space || byte == Self.newline || byte == UInt8(ascii: "\r")
    }

    private var lineEnd: Int {
        bytes[position...].firstIndex(of: Self.newline) ?? bytes.count
    }

    private mutating func advance() {
        if bytes[position] == Self.newline {
            line += 1
            lineStart = position + 1
        }
        position += 1
    }

    /// Returns whether the next token is the first on its line.
    private mutating func skipBlanks() -> Bool {
        var isLineStart = position == lineStart
        while position < bytes.count, isBlank(0) {
            if bytes[position] == Self.newline { isLineStart = true }
            advance()
        }
        return isLineStart
    }

    private mutating func token(
        _ kind: YAMLToken.Kind, _ consume: (inout Self) -> Void
    ) -> YAMLToken {
        let (start, line, column) = (position, line, column)
        consume(&self)
        return YAMLToken(kind: kind, range: start..<position, line: line, column: column)
    }

    // MARK: Structure

    private mutating func open(at column: Int) {
        if blocks.last ?? -1 < column { blocks.append(column) }
    }

    private mutating func close(deeperThan column: Int) {
        while let last = blocks.last, last > column { blocks.removeLast() }
    }

    private mutating func documentMarker(_ first: UInt8) -> YAMLToken? {
        guard isBlank(3), byte(1) == first, byte(2) == first else { return nil }
        switch first {
        case UInt8(ascii: "-"): return token(.documentStart) { $0.position += 3 }
        case UInt8(ascii: "."): return token(.documentEnd) { $0.position += 3 }
        default: return nil
        }
    }

    private mutating func indicator(_ first: UInt8) -> YAMLToken? {
        let isFlow = flowDepth > 0
        switch first {
        case UInt8(ascii: "-") where isBlank(1) && !isFlow:
            open(at: column)
            return one(.item)
        case UInt8(ascii: ":") where isBlank(1) || isFlow:
            if !isFlow, let key = lastScalar, key.line == line { open(at: key.column) }
            return one(.value)
        case UInt8(ascii: "{"): return one(.openMapping, flow: 1)
        case UInt8(ascii: "["): return one(.openSequence, flow: 1)
        case UInt8(ascii: "}"): return one(.closeMapping, flow: -1)
        case UInt8(ascii: "]"): return one(.closeSequence, flow: -1)
        case UInt8(ascii: ","): return one(.comma)
        case UInt8(ascii: "?") where isBlank(1) || isFlow: return one(.complexKey)
        case UInt8(ascii: "&"): return one(.anchor)
        case UInt8(ascii: "*"): return one(.alias)
        case UInt8(ascii: "!"): return one(.tag)
        case UInt8(ascii: "%") where column == 0: return one(.directive)
        default: return nil
        }
    }

    private mutating func one(_ kind: YAMLToken.Kind, flow change: Int = 0) -> YAMLToken {
        flowDepth = max(0, flowDepth + change)
        return token(kind) { $0.position += 1 }
    }

    // MARK: Scalars

    private mutating func scalar(_ first: UInt8) -> YAMLToken {
        switch first {
        case UInt8(ascii: "'"), UInt8(ascii: "\""):
            token(.quoted) { $0.skipQuoted(first) }
        case UInt8(ascii: "|") where flowDepth == 0, UInt8(ascii: ">") where flowDepth == 0:
            token(.block) { $0.skipBlockScalar() }
        default:
            token(.plain) { $0.skipPlain() }
        }
    }

    private mutating func skipQuoted(_ quote: UInt8) {
        position += 1
        while let byte = byte() {
            let isEscape = byte == UInt8(ascii: "\\") && quote == UInt8(ascii: "\"")
            let isDoubled = byte == quote && quote == UInt8(ascii: "'") && self.byte(1) == quote
            advance()
            if isEscape || isDoubled {
                if position < bytes.count { advance() }
            } else if byte == quote {
                return
            }
        }
    }

    private mutating func skipPlain() {
        let indent = (blocks.last ?? -1) + 1
        var end = self
        while true {
            while !isBlank(0), !endsPlain { position += 1 }
            // A token takes at least one byte, whatever it is.
            if position == end.position { position += 1 }
            end = self
            guard skipBlanksInPlain(indent) else { break }
        }
        self = end
    }

    private var endsPlain: Bool {
        switch byte() {
        case UInt8(ascii: ":"): isBlank(1)
        case UInt8(ascii: ","), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "{"),
            UInt8(ascii: "}"):
            flowDepth > 0
        default: false
        }
    }

    /// Whether the scalar continues after the blanks.
    private mutating func skipBlanksInPlain(_ indent: Int) -> Bool {
        let isNewLine = skipBlanks()
        guard let first = byte(), first != UInt8(ascii: "#"), !endsPlain else { return false }
        guard isNewLine else { return true }
        if column == 0, isBlank(3), byte(1) == first, byte(2) == first,
            first == UInt8(ascii: "-") || first == UInt8(ascii: ".")
        {
            return false
        }
        return flowDepth > 0 || column >= indent
    }

    /// The `2` of `|2` and of `>-2`; a digit after another character belongs to a comment.
    package static func indent(ofBlockScalar bytes: ArraySlice<UInt8>) -> Int? {
        let header = bytes.dropFirst().prefix(2)
        let isChomping = header.first == UInt8(ascii: "-") || header.first == UInt8(ascii: "+")
        guard let digit = isChomping ? header.dropFirst().first : header.first,
            (UInt8(ascii: "1")...UInt8(ascii: "9")).contains(digit)
        else { return nil }
        return Int(digit - UInt8(ascii: "0"))
    }

    private mutating func skipBlockScalar() {
        let digit = Self.indent(ofBlockScalar: bytes[position..<lineEnd])
        let parent = blocks.last ?? -1
        position = lineEnd
        var end = self
        var indent = digit.map { max(parent, 0) + $0 }
        while byte() == Self.newline {
            advance()
            while byte() == Self.space, indent.map({ column < $0 }) ?? true { position += 1 }
            let isEmpty = byte() == nil || byte() == Self.newline || byte() == UInt8(ascii: "\r")
            if !isEmpty {
                let needed = indent ?? max(column, parent + 1, 1)
                guard column >= needed else { break }
                indent = needed
                end = self
            }
            position = lineEnd
            if !isEmpty { end = self }
        }
        self = end
    }
}
