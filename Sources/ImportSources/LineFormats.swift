// SPDX-License-Identifier: Apache-2.0
internal import KeychainImport
internal import KeychainSecrets

/// `.git-credentials`: an address with user and password on each line.
struct GitCredentialLines: LineSource {
    func take(_ line: SecretBuffer, number: Int, _ put: ImportSource.Put) throws(ImportError) {
        let range = line.trimmed(0..<line.count)
        guard let first = range.first else { return }
        guard line.byte(first) != 0x23 else { return try put(.rest(number)) }
        let split = SplitAddress(line, range)
        guard split.password != nil, WebAddress(split.address) != nil else {
            throw .malformed(line: number)
        }
        var entry = ImportEntry(line: number)
        entry.take(split, NoteLines())
        try put(entry)
    }

    func finish(_ put: ImportSource.Put) throws(ImportError) {}
}

/// `.env`: `NAME=value` on each line, `export` before it or not, the value in quotes or not.
struct EnvironmentLines: LineSource {
    /// The service of the variables.
    let name: String

    func take(_ line: SecretBuffer, number: Int, _ put: ImportSource.Put) throws(ImportError) {
        let range = line.trimmed(0..<line.count)
        guard let first = range.first else { return }
        guard line.byte(first) != 0x23 else { return try put(.rest(number)) }
        guard let sign = line.first(0x3D, in: range),
            let key = variable(line, line.trimmed(range.lowerBound..<sign))
        else { throw .malformed(line: number) }
        var entry = ImportEntry(line: number)
        entry.title = name
        entry.account = key
        let (value, comment) = try value(
            line, line.trimmed(sign + 1..<range.upperBound), number)
        entry.password = value
        try put(entry)
        if !comment.isEmpty { try put(.rest(number)) }
    }

    func finish(_ put: ImportSource.Put) throws(ImportError) {}

    /// nil for a text that is no name: it may be part of a secret of several lines.
    private func variable(_ line: SecretBuffer, _ range: Range<Int>) -> String? {
        var range = range
        if range.count > 7, line.says("export", in: range.prefix(6)), line.isSpace(range.first! + 6)
        {
            range = line.trimmed(range.dropFirst(7))
        }
        guard !range.isEmpty, range.allSatisfy({ Self.isNameByte(line.byte($0)) }) else {
            return nil
        }
        return line.text(range)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."),
            UInt8(ascii: "-"), 0x80...0xFF:
            true
        default: false
        }
    }

    /// The value, and the comment after it.
    private func value(
        _ line: SecretBuffer, _ range: Range<Int>, _ number: Int
    ) throws(ImportError) -> (value: HeldSecret, comment: Range<Int>) {
        guard let first = range.first, [0x22, 0x27].contains(line.byte(first)) else {
            // A comment begins after a space.
            let end =
                range.first {
                    line.byte($0) == 0x23 && $0 > range.lowerBound && line.isSpace($0 - 1)
                }
                ?? range.upperBound
            return (
                line.secret(line.trimmed(range.lowerBound..<end)), end..<range.upperBound
            )
        }
        let quote = line.byte(first)
        let value = SecretBuffer(limit: max(1, range.count))
        var position = first + 1
        while position < range.upperBound, line.byte(position) != quote {
            var byte = line.byte(position)
            if quote == 0x22, byte == 0x5C, position + 1 < range.upperBound {
                position += 1
                byte = Self.escaped(line.byte(position))
            }
            _ = value.append(byte)
            position += 1
        }
        let rest = line.trimmed(min(position + 1, range.upperBound)..<range.upperBound)
        guard position < range.upperBound, rest.isEmpty || line.byte(rest.lowerBound) == 0x23 else {
            throw .openQuote(line: number)
        }
        return (HeldSecret(value.contents), rest)
    }

    private static func escaped(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: byte
        }
    }
}

/// Sections of `name = value`: `.pypirc` and `.aws/credentials`.
struct SectionLines: LineSource {
    /// A section after reading.
    struct Section {
        let name: String
        let line: Int
        var values: [String: HeldSecret] = [:]

        func text(_ key: String) -> String {
            guard let value = values[key] else { return "" }
            return String(decoding: value.bytes.releasedFromLockedMemory(), as: UTF8.self)
        }
    }

    /// The keys that `read` uses; other keys are not imported.
    let keys: [String]
    /// The entries of a section.
    let read: (Section) -> [ImportEntry]
    private var section: Section?

    init(_ keys: [String], _ read: @escaping (Section) -> [ImportEntry]) {
        self.keys = keys
        self.read = read
    }

    mutating func take(
        _ line: SecretBuffer, number: Int, _ put: ImportSource.Put
    ) throws(ImportError) {
        let range = line.trimmed(0..<line.count)
        guard let first = range.first else { return }
        if line.byte(first) == 0x5B { return try begin(line, range, number, put) }
        // A comment, or an indented line that continues the one before: no known key has one.
        let isComment = [0x23, 0x3B].contains(line.byte(first))
        guard !isComment, !line.isSpace(0) else { return try put(.rest(number)) }
        guard let sign = range.first(where: { [0x3D, 0x3A].contains(line.byte($0)) }),
            section != nil
        else { throw .malformed(line: number) }
        let value = line.trimmed(sign + 1..<range.upperBound)
        let named = line.trimmed(range.lowerBound..<sign)
        guard let key = keys.first(where: { line.says($0, in: named) }) else {
            return value.isEmpty ? () : try put(.rest(number))
        }
        // The last value counts.
        let replaced = section?.values.updateValue(line.secret(value), forKey: key)
        if replaced != nil { try put(.rest(number)) }
    }

    private mutating func begin(
        _ line: SecretBuffer, _ range: Range<Int>, _ number: Int, _ put: ImportSource.Put
    ) throws(ImportError) {
        guard line.byte(range.upperBound - 1) == 0x5D,
            let name = line.text(line.trimmed(range.lowerBound + 1..<range.upperBound - 1))
        else { throw .malformed(line: number) }
        try finish(put)
        section = Section(name: name, line: number)
    }

    mutating func finish(_ put: ImportSource.Put) throws(ImportError) {
        guard let section else { return }
        let entries = read(section)
        for entry in entries.isEmpty ? [ImportEntry(line: section.line)] : entries {
            try put(entry)
        }
        self.section = nil
    }

    static var pypirc: SectionLines {
        SectionLines(["username", "password", "repository"]) { section in
            var entry = ImportEntry(line: section.line)
            let notes = NoteLines()
            entry.title = section.name
            entry.account = section.text("username")
            entry.password = section.values["password"]
            entry.address = usualAddresses[section.name] ?? ""
            if let said = section.values["repository"], said.bytes.count > 0 {
                let address = SecretBuffer(limit: said.bytes.count)
                _ = address.append(said.bytes)
                entry.address = ""
                entry.take(SplitAddress(address, 0..<address.count), notes)
            }
            entry.notes = notes.contents
            return [entry]
        }
    }

    private static let usualAddresses = [
        "pypi": "https://upload.pypi.org/legacy/", "testpypi": "https://test.pypi.org/legacy/",
    ]

    /// A profile's secret key is the item `aws/PROFILE`, whose comment is the key's identifier.
    static var aws: SectionLines {
        let secrets = [("aws_secret_access_key", ""), ("aws_session_token", " (session token)")]
        return SectionLines(secrets.map(\.0) + ["aws_access_key_id"]) { section in
            secrets.compactMap { key, ending in
                guard let secret = section.values[key] else { return nil }
                var entry = ImportEntry(line: section.line)
                entry.title = "aws"
                entry.account = section.name + ending
                entry.folder = section.text("aws_access_key_id")
                entry.password = secret
                return entry
            }
        }
    }
}
