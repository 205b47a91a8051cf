// SPDX-License-Identifier: Apache-2.0
internal import KeychainImport
internal import KeychainSecrets

/// `.netrc`: words with spaces or line ends between them.
struct NetrcText {
    private enum Keyword: String, CaseIterable {
        case machine, `default`, login, password, account, macdef
    }

    private let text: SecretBuffer
    private let words: [Range<Int>]
    private var position = 0
    private var entry: ImportEntry?
    private var notes = NoteLines()
    /// The line of the last byte that was looked up.
    private var counted = (line: 1, position: 0)

    static func read(_ text: SecretBuffer, _ put: ImportSource.Put) throws(ImportError) {
        var netrc = NetrcText(text)
        while netrc.position < netrc.words.count {
            try netrc.takeWord(put)
            netrc.position += 1
        }
        try netrc.end(put)
    }

    private init(_ text: SecretBuffer) {
        self.text = text
        words = Self.words(text)
    }

    private mutating func takeWord(_ put: ImportSource.Put) throws(ImportError) {
        let word = words[position]
        switch Keyword.allCases.first(where: { text.says($0.rawValue, in: word) }) {
        case .machine:
            try begin(put)
            let found = try value()
            entry?.host = text.text(found) ?? ""
        case .default:
            try begin(put)
            entry?.title = "netrc default"
        case .login where entry != nil:
            // The last value counts.
            if entry?.account.isEmpty == false { try put(.rest(line(word))) }
            let found = try value()
            entry?.account = text.text(found) ?? ""
        case .password where entry != nil:
            if entry?.password != nil { try put(.rest(line(word))) }
            let found = unquoted(try value())
            entry?.password = found
        // A further password.
        case .account where entry != nil: notes.add(unquoted(try value()), name: "account")
        case .macdef: try skipMacro(put)
        case nil where text.byte(word.lowerBound) == 0x23: try skipComment(put)
        default: throw .malformed(line: line(word))
        }
    }

    private mutating func begin(_ put: ImportSource.Put) throws(ImportError) {
        try end(put)
        entry = ImportEntry(line: line(words[position]))
    }

    private mutating func end(_ put: ImportSource.Put) throws(ImportError) {
        guard var found = entry else { return }
        found.notes = notes.contents
        notes = NoteLines()
        entry = nil
        try put(found)
    }

    private mutating func value() throws(ImportError) -> Range<Int> {
        guard position + 1 < words.count else { throw .malformed(line: line(words[position])) }
        position += 1
        return words[position]
    }

    /// Skips a macro to its end, an empty line; without one its end can't be told from the entries
    /// below it.
    private mutating func skipMacro(_ put: ImportSource.Put) throws(ImportError) {
        let start = words[position]
        guard let end = emptyLine(from: start.upperBound) else {
            throw .malformed(line: line(start))
        }
        skip(to: end)
        try put(.rest(line(start)))
    }

    /// Skips to the line's end. A value may begin like a comment, too.
    private mutating func skipComment(_ put: ImportSource.Put) throws(ImportError) {
        let start = words[position]
        skip(to: text.first(0x0A, in: start.lowerBound..<text.count) ?? text.count)
        try put(.rest(line(start)))
    }

    private mutating func skip(to end: Int) {
        while position + 1 < words.count, words[position + 1].lowerBound < end { position += 1 }
    }

    /// Must be called with ascending places, so that each byte is read once.
    private mutating func line(_ word: Range<Int>) -> Int {
        let from = counted.position <= word.lowerBound ? counted : (line: 1, position: 0)
        let line = (from.position..<word.lowerBound).reduce(from.line) {
            $0 + (text.byte($1) == 0x0A ? 1 : 0)
        }
        counted = (line, word.lowerBound)
        return line
    }

    /// A quoted word may have spaces in it.
    private static func words(_ text: SecretBuffer) -> [Range<Int>] {
        var words: [Range<Int>] = []
        var position = 0
        func isBreak(_ position: Int) -> Bool {
            text.isSpace(position) || text.byte(position) == 0x0A
        }
        while position < text.count {
            if isBreak(position) {
                position += 1
                continue
            }
            let start = position
            let isQuoted = text.byte(start) == 0x22
            position += 1
            while position < text.count {
                if isQuoted ? text.byte(position) == 0x0A : isBreak(position) { break }
                if isQuoted, text.byte(position) == 0x22, text.byte(position - 1) != 0x5C {
                    position += 1
                    break
                }
                position += 1
            }
            words.append(start..<position)
        }
        return words
    }

    private func unquoted(_ range: Range<Int>) -> HeldSecret {
        guard range.count >= 2, text.byte(range.lowerBound) == 0x22,
            text.byte(range.upperBound - 1) == 0x22
        else { return text.secret(range) }
        let value = SecretBuffer(limit: range.count)
        var position = range.lowerBound + 1
        while position < range.upperBound - 1 {
            if text.byte(position) == 0x5C, position + 2 < range.upperBound { position += 1 }
            _ = value.append(text.byte(position))
            position += 1
        }
        return HeldSecret(value.contents)
    }

    /// The beginning of the first empty line after the position.
    private func emptyLine(from start: Int) -> Int? {
        var end = text.first(0x0A, in: start..<text.count)
        while let last = end {
            var next = last + 1
            if next < text.count, text.byte(next) == 0x0D { next += 1 }
            if next < text.count, text.byte(next) == 0x0A { return last + 1 }
            end = text.first(0x0A, in: last + 1..<text.count)
        }
        return nil
    }
}

/// An entry of pass or gopass: the password on the first line, and the user's notes below.
enum PassText {
    /// `name` is the entry's name, such as `web/example.com/me`.
    static func read(
        _ text: SecretBuffer, name: String, _ put: ImportSource.Put
    ) throws(ImportError) {
        var entry = ImportEntry(line: 1)
        let end = text.first(0x0A, in: 0..<text.count) ?? text.count
        entry.password = text.secret(withoutReturn(text, 0..<end))
        let notes = NoteLines()
        var start = end + 1
        while start < text.count {
            let end = text.first(0x0A, in: start..<text.count) ?? text.count
            let line = withoutReturn(text, start..<end)
            if entry.account.isEmpty, let account = account(text, line) {
                entry.account = account
            } else if isOneTime(text, line), entry.oneTimePassword == nil {
                entry.oneTimePassword = text.secret(line)
            } else {
                notes.add(text.secret(line))
            }
            start = end + 1
        }
        entry.notes = notes.contents
        entry.title = name
        if entry.account.isEmpty, let slash = name.lastIndex(of: "/") {
            entry.title = String(name[..<slash])
            entry.account = String(name[name.index(after: slash)...])
        }
        try put(entry)
    }

    private static func withoutReturn(_ text: SecretBuffer, _ range: Range<Int>) -> Range<Int> {
        guard let last = range.last, text.byte(last) == 0x0D else { return range }
        return range.dropLast()
    }

    /// The account of a line such as `login: me`.
    private static func account(_ text: SecretBuffer, _ line: Range<Int>) -> String? {
        guard let colon = text.first(0x3A, in: line.prefix(9)),
            ["login", "user", "username"].contains(where: {
                text.says($0, in: line.lowerBound..<colon)
            })
        else { return nil }
        return text.text(text.trimmed(colon + 1..<line.upperBound))
    }

    private static func isOneTime(_ text: SecretBuffer, _ line: Range<Int>) -> Bool {
        let beginning = Array("otpauth://".utf8)
        guard line.count > beginning.count else { return false }
        return beginning.indices.allSatisfy { text.byte(line.lowerBound + $0) == beginning[$0] }
    }
}
