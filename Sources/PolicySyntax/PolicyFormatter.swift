// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel

/// Writes a policy file in the common layout: two columns a level, one space where a space belongs,
/// at most one empty line in a row. Comments and the spelling of every value are kept.
package struct PolicyFormatter {
    /// A block collection, with its old and its new column.
    private struct Block {
        let old: Int
        let new: Int
        let isSequence: Bool
    }

    private let source: SourceFile
    private var output: [UInt8] = []
    private var blocks: [Block] = []
    private var flowDepth = 0
    private var previous: YAMLToken?
    /// The last line of the source that has been written.
    private var line = -1
    /// Comments on lines of their own; the next token decides their place.
    private var pending: [YAMLToken] = []

    private init(_ source: SourceFile) { self.source = source }

    /// The file's new text; throws the mistake of a file that is no YAML of the profile.
    package static func format(_ source: SourceFile) throws(Diagnostic) -> [UInt8] {
        let before = try YAMLDocument.read(source)
        var formatter = PolicyFormatter(source)
        var scanner = YAMLScanner(source.bytes)
        while let token = scanner.next() { formatter.write(token) }
        formatter.finish()
        let after = try YAMLDocument.read(
            SourceFile(path: source.path, bytes: formatter.output))
        guard after?.meaning == before?.meaning else {
            throw Diagnostic(
                .syntax, path: source.path,
                "the file is written in a way that can't be formatted without changing it")
        }
        return formatter.output
    }

    // MARK: Lines

    private mutating func write(_ token: YAMLToken) {
        let isFirst = token.line > line
        if token.kind == .comment {
            if isFirst, flowDepth == 0 {
                pending.append(token)
            } else {
                writeComment(token, isFirst)
            }
            return
        }
        if isFirst { begin(token) } else { space(before: token) }
        if token.kind == .closeMapping || token.kind == .closeSequence {
            flowDepth = max(0, flowDepth - 1)
        }
        if token.kind == .openMapping || token.kind == .openSequence { flowDepth += 1 }
        append(token)
        line = lastLine(of: token)
        previous = token
    }

    private mutating func begin(_ token: YAMLToken) {
        if flowDepth > 0 {
            let closes = token.kind == .closeMapping || token.kind == .closeSequence
            let depth = closes ? flowDepth - 1 : flowDepth
            startLine(token.line, column: (blocks.last?.new ?? 0) + 2 * depth)
            return
        }
        let open = blocks
        let opensBlock = place(token)
        let column = blocks.last?.new ?? 0
        for comment in pending {
            let isItsOwn =
                comment.column == token.column
                || (opensBlock && comment.column > token.column)
            write(comment, column: isItsOwn ? column : Self.column(of: comment, in: open))
        }
        pending = []
        startLine(token.line, column: column)
    }

    /// Finds the block that a token opens or continues; returns whether it opens one.
    @discardableResult
    private mutating func place(_ token: YAMLToken) -> Bool {
        if token.kind == .documentStart || token.kind == .documentEnd {
            blocks = []
            return false
        }
        let isItem = token.kind == .item
        while let last = blocks.last,
            last.old > token.column || (last.old == token.column && last.isSequence && !isItem)
        {
            blocks.removeLast()
        }
        if let last = blocks.last, last.old == token.column, last.isSequence == isItem {
            return false
        }
        let new = blocks.last.map { $0.new + 2 } ?? 0
        blocks.append(Block(old: token.column, new: new, isSequence: isItem))
        return true
    }

    /// A comment without a later token in its block gets the column of the block it stood in: of
    /// two in the same column, the outer one.
    private static func column(of comment: YAMLToken, in blocks: [Block]) -> Int {
        let own = blocks.last { $0.old <= comment.column }
        return blocks.first { $0.old == own?.old }?.new ?? 0
    }

    private mutating func write(_ comment: YAMLToken, column: Int) {
        startLine(comment.line, column: column)
        append(comment)
        line = comment.line
    }

    private mutating func startLine(_ line: Int, column: Int) {
        if !output.isEmpty {
            output.append(Self.newline)
            if line > self.line + 1 { output.append(Self.newline) }
        }
        output += Array(repeating: Self.blank, count: column)
    }

    private mutating func finish() {
        for comment in pending { write(comment, column: Self.column(of: comment, in: blocks)) }
        if !output.isEmpty { output.append(Self.newline) }
    }

    private mutating func writeComment(_ token: YAMLToken, _ isFirst: Bool) {
        if isFirst {
            startLine(token.line, column: (blocks.last?.new ?? 0) + 2 * flowDepth)
        } else {
            output += [Self.blank, Self.blank]
        }
        append(token)
        line = token.line
        previous = token
    }

    // MARK: Tokens

    private static let newline = UInt8(ascii: "\n")
    private static let blank = UInt8(ascii: " ")

    private mutating func space(before token: YAMLToken) {
        switch (previous?.kind, token.kind) {
        case (_, .value), (_, .comma), (_, .closeMapping), (_, .closeSequence): return
        case (.openMapping, _), (.openSequence, _): return
        case (.item, _):
            output.append(Self.blank)
            place(token)
        default: output.append(Self.blank)
        }
    }

    private func lastLine(of token: YAMLToken) -> Int {
        token.line + source.bytes[token.range].count { $0 == Self.newline }
    }

    private mutating func append(_ token: YAMLToken) {
        let isBlock = token.kind == .block
        let lines = source.bytes[token.range].split(
            separator: Self.newline, omittingEmptySubsequences: false
        ).map { isBlock ? $0 : Self.trimmed($0) }
        guard lines.count > 1 else {
            output += lines.first ?? []
            return
        }
        output += lines[0]
        let column = continuation(of: token)
        let shift = isBlock ? blockIndent(lines) : nil
        for line in lines.dropFirst() {
            output.append(Self.newline)
            let indent = line.prefix { $0 == Self.blank }.count
            guard indent < line.count else { continue }
            let extra = shift.map { max(0, indent - $0) } ?? 0
            output += Array(repeating: Self.blank, count: column + extra)
            output += line.dropFirst(indent)
        }
    }

    /// The column of the further lines of a scalar.
    private func continuation(of token: YAMLToken) -> Int {
        let parent = blocks.last?.new ?? 0
        guard token.kind == .block else { return parent + 2 * (flowDepth + 1) }
        return parent + (YAMLScanner.indent(ofBlockScalar: source.bytes[token.range]) ?? 2)
    }

    /// The indentation of the lines of a block scalar.
    private func blockIndent(_ lines: [ArraySlice<UInt8>]) -> Int {
        if let digit = lines.first.flatMap(YAMLScanner.indent) {
            return (blocks.last?.old ?? 0) + digit
        }
        let first = lines.dropFirst().first { line in line.contains { $0 != Self.blank } }
        return first?.prefix { $0 == Self.blank }.count ?? 0
    }

    private static func trimmed(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var line = line
        while let last = line.last, last == blank || last == 0x0D { line.removeLast() }
        return line
    }
}

extension YAMLNode {
    /// The value without its place.
    fileprivate var meaning: String {
        switch content {
        case .scalar(let text): JSONText(text).description
        case .list(let items): "[" + items.map(\.meaning).joined(separator: ",") + "]"
        case .mapping(let entries):
            "{"
                + entries.map { JSONText($0.key).description + ":" + $0.value.meaning }
                .joined(separator: ",") + "}"
        }
    }
}
