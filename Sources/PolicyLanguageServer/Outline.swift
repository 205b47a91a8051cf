// SPDX-License-Identifier: Apache-2.0
internal import PolicySyntax

/// The words of a policy file with the keys that lead to each, as far as they can be told while the
/// file is being written. It follows indentation and brackets, and refuses nothing.
struct Outline {
    enum Step: Hashable, Sendable {
        case key(String)
        case item
    }

    enum Role: Sendable { case key, value }

    struct Word: Sendable {
        /// The keys to the word's container: for a key the mapping, for a value the value itself.
        let path: [Step]
        let role: Role
        /// The text without its quotes.
        let text: String
        /// The range with its quotes.
        let range: Range<Int>
        let isQuoted: Bool
    }

    /// A place where a word is, or could be written.
    struct Place: Sendable {
        let path: [Step]
        /// Whether a key, and whether a value, can stand there.
        let mayBeKey: Bool
        let mayBeValue: Bool
        /// The keys of the mapping so far.
        let keys: [String]
        /// The bytes written so far.
        let range: Range<Int>
    }

    private(set) var words: [Word] = []

    init(_ bytes: [UInt8]) {
        var scanner = YAMLScanner(bytes)
        var walk = OutlineWalk(bytes)
        while let token = scanner.next() {
            if let word = walk.take(token) { words.append(word) }
        }
        if let word = walk.finish() { words.append(word) }
    }

    /// The word at a byte, or the one that ends there.
    func word(at offset: Int) -> Word? {
        words.first { $0.range.contains(offset) } ?? words.first { $0.range.upperBound == offset }
    }

    /// The place of a byte, by the bytes before it alone, as the rest may not be written yet.
    static func place(at offset: Int, in bytes: [UInt8]) -> Place? {
        let before = Array(bytes.prefix(offset))
        var scanner = YAMLScanner(before)
        var tokens: [YAMLToken] = []
        while let token = scanner.next() { tokens.append(token) }
        if let last = tokens.last, last.kind == .comment || last.kind == .block { return nil }
        var start = before.count
        if let last = tokens.last, last.kind == .plain || last.kind == .quoted,
            last.range.upperBound == before.count
        {
            start = last.range.lowerBound
            tokens.removeLast()
        }
        var walk = OutlineWalk(before)
        for token in tokens { _ = walk.take(token) }
        _ = walk.finish()
        let lineStart = (before[..<start].lastIndex(of: UInt8(ascii: "\n")) ?? -1) + 1
        let isFirst = before[lineStart..<start].allSatisfy { $0 == UInt8(ascii: " ") }
        return walk.place(
            column: start - lineStart, lastOnLine: isFirst ? nil : tokens.last?.kind,
            range: start..<before.count)
    }
}

/// The mappings and lists that are open at a token.
private struct OutlineWalk {
    private enum Frame {
        /// A mapping with the key that was read last.
        case mapping(column: Int?, key: String?, keys: [String])
        case list(column: Int?)

        /// nil within brackets.
        var column: Int? {
            switch self {
            case .mapping(let column, _, _), .list(let column): column
            }
        }
    }

    private let bytes: [UInt8]
    private var frames: [Frame] = []
    /// A scalar that may be a key, as the next token tells.
    private var pending: YAMLToken?

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The word that the token completes.
    mutating func take(_ token: YAMLToken) -> Outline.Word? {
        if token.kind == .comment { return nil }
        let scalar = pending
        pending = nil
        if token.kind == .value {
            guard let scalar, isInFlow || scalar.line == token.line else { return nil }
            return key(scalar)
        }
        let word = scalar.map { self.word($0, .value) }
        switch token.kind {
        case .plain, .quoted, .block: pending = token
        case .item: item(token.column)
        case .openMapping: frames.append(.mapping(column: nil, key: nil, keys: []))
        case .openSequence: frames.append(.list(column: nil))
        case .closeMapping, .closeSequence:
            if isInFlow { frames.removeLast() }
        case .comma:
            if case .mapping(nil, _, let keys)? = frames.last {
                frames[frames.count - 1] = .mapping(column: nil, key: nil, keys: keys)
            }
        default: break
        }
        return word
    }

    mutating func finish() -> Outline.Word? {
        defer { pending = nil }
        return pending.map { word($0, .value) }
    }

    private var isInFlow: Bool { frames.last.map { $0.column == nil } ?? false }

    private mutating func close(deeperThan column: Int) {
        while let last = frames.last?.column, last > column { frames.removeLast() }
    }

    private mutating func item(_ column: Int) {
        close(deeperThan: column)
        if case .list(column)? = frames.last { return }
        frames.append(.list(column: column))
    }

    private mutating func key(_ scalar: YAMLToken) -> Outline.Word {
        if !isInFlow {
            close(deeperThan: scalar.column)
            // A list may begin in the same column as the key that it belongs to.
            if case .list(scalar.column)? = frames.last { frames.removeLast() }
            if case .mapping(scalar.column, _, _)? = frames.last {
            } else {
                frames.append(.mapping(column: scalar.column, key: nil, keys: []))
            }
        } else if case .list? = frames.last {
            return word(scalar, .key)
        }
        let text = text(of: scalar)
        guard case .mapping(let column, _, let keys)? = frames.last else {
            return word(scalar, .key)
        }
        frames[frames.count - 1] = .mapping(column: column, key: nil, keys: keys + [text])
        let word = word(scalar, .key)
        frames[frames.count - 1] = .mapping(column: column, key: text, keys: keys + [text])
        return word
    }

    private func word(_ scalar: YAMLToken, _ role: Outline.Role) -> Outline.Word {
        Outline.Word(
            path: path, role: role, text: text(of: scalar), range: scalar.range,
            isQuoted: scalar.kind == .quoted)
    }

    private var path: [Outline.Step] {
        frames.compactMap { frame in
            switch frame {
            case .mapping(_, let key, _): key.map { .key($0) }
            case .list: .item
            }
        }
    }

    private func text(of scalar: YAMLToken) -> String {
        let text = String(decoding: bytes[scalar.range], as: UTF8.self)
        guard scalar.kind == .quoted, text.utf8.count >= 2 else { return text }
        return String(text.dropFirst().dropLast())
    }

    // MARK: Places

    /// `lastOnLine` is the last token before the place on its line.
    mutating func place(
        column: Int, lastOnLine: YAMLToken.Kind?, range: Range<Int>
    ) -> Outline.Place? {
        func place(_ path: [Outline.Step], _ isKey: Bool, _ isValue: Bool, _ keys: [String] = [])
            -> Outline.Place
        {
            Outline.Place(
                path: path, mayBeKey: isKey, mayBeValue: isValue, keys: keys, range: range)
        }
        switch frames.last {
        case .mapping(nil, nil, let keys)?: return place(path, true, false, keys)
        case .mapping(nil, _, _)?: return place(path, false, true)
        case .list(nil)?: return place(path, false, true)
        default: break
        }
        if lastOnLine == .value { return place(path, true, true) }
        // After a value the line has no room for another one.
        if let lastOnLine, lastOnLine != .item { return nil }
        close(deeperThan: column)
        if case .list(column)? = frames.last, lastOnLine == nil { frames.removeLast() }
        if case .mapping(column, _, let keys)? = frames.last {
            frames[frames.count - 1] = .mapping(column: column, key: nil, keys: keys)
            return place(path, true, false, keys)
        }
        return place(path, true, true)
    }
}
