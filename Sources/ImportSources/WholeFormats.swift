// SPDX-License-Identifier: Apache-2.0
internal import KeychainImport
internal import KeychainSecrets

/// `.netrc`: words with spaces or lines between.
enum NetrcText {
    static func read(_ text: SecretBuffer, _ put: ImportSource.Put) throws(ImportError) {
        let words = words(text)
        var entry: ImportEntry?
        var position = 0
        func value() throws(ImportError) -> Range<Int> {
            guard position + 1 < words.count else {
                throw .malformed(line: text.number(ofLineAt: words[position].lowerBound))
            }
            position += 1
            return words[position]
        }
        while position < words.count {
            let start = words[position].lowerBound
            switch text.text(words[position]) {
            case "machine":
                if let entry { try put(entry) }
                entry = ImportEntry(line: text.number(ofLineAt: start))
                entry?.host = text.text(try value()) ?? ""
            case "default":
                if let entry { try put(entry) }
                entry = ImportEntry(line: text.number(ofLineAt: start))
                entry?.title = "netrc default"
            case "login" where entry != nil: entry?.account = text.text(try value()) ?? ""
            case "password" where entry != nil: entry?.password = unquoted(text, try value())
            case "account" where entry != nil: entry?.folder = text.text(try value()) ?? ""
            case "macdef":
                // Its lines go on to an empty one.
                let end = emptyLine(text, from: start)
                while position + 1 < words.count, words[position + 1].lowerBound < end {
                    position += 1
                }
            case let word? where word.hasPrefix("#"):
                // A comment, to the line's end. A value may begin so, too.
                let end = text.first(0x0A, in: start..<text.count) ?? text.count
                while position + 1 < words.count, words[position + 1].lowerBound < end {
                    position += 1
                }
            default: throw .malformed(line: text.number(ofLineAt: start))
            }
            position += 1
        }
        if let entry { try put(entry) }
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

    private static func unquoted(_ text: SecretBuffer, _ range: Range<Int>) -> HeldSecret {
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

    private static func emptyLine(_ text: SecretBuffer, from start: Int) -> Int {
        var position = start
        while position + 1 < text.count {
            if text.byte(position) == 0x0A, text.byte(position + 1) == 0x0A { return position }
            position += 1
        }
        return text.count
    }
}

/// An entry of pass or gopass: the password on the first line, below it what its user wrote.
enum PassText {
    /// `name`: the entry's, as `web/example.com/me`.
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

    /// Of a line like `login: me`.
    private static func account(_ text: SecretBuffer, _ line: Range<Int>) -> String? {
        guard let colon = text.first(0x3A, in: line), colon - line.lowerBound <= 8,
            let key = text.text(line.lowerBound..<colon)?.lowercased(),
            ["login", "user", "username"].contains(key)
        else { return nil }
        return text.text(text.trimmed(colon + 1..<line.upperBound))
    }

    private static func isOneTime(_ text: SecretBuffer, _ line: Range<Int>) -> Bool {
        let beginning = Array("otpauth://".utf8)
        guard line.count > beginning.count else { return false }
        return beginning.indices.allSatisfy { text.byte(line.lowerBound + $0) == beginning[$0] }
    }
}
