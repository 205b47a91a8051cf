// SPDX-License-Identifier: Apache-2.0
internal import KeychainImport
internal import KeychainSecrets

/// `.git-credentials`: an address with user and password on each line.
struct GitCredentialLines: LineSource {
    func take(_ line: SecretBuffer, number: Int, _ put: ImportSource.Put) throws(ImportError) {
        let range = line.trimmed(0..<line.count)
        guard !range.isEmpty, line.byte(range.lowerBound) != 0x23 else { return }
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
    /// What the variables belong to.
    let name: String

    func take(_ line: SecretBuffer, number: Int, _ put: ImportSource.Put) throws(ImportError) {
        let range = line.trimmed(0..<line.count)
        guard !range.isEmpty, line.byte(range.lowerBound) != 0x23 else { return }
        guard let sign = line.first(0x3D, in: range),
            let key = line.text(line.trimmed(range.lowerBound..<sign)).map(Self.variable),
            !key.isEmpty, !key.contains(" ")
        else { throw .malformed(line: number) }
        var entry = ImportEntry(line: number)
        entry.title = name
        entry.account = key
        entry.password = try value(line, line.trimmed(sign + 1..<range.upperBound), number)
        try put(entry)
    }

    func finish(_ put: ImportSource.Put) throws(ImportError) {}

    private static func variable(_ text: String) -> String {
        text.hasPrefix("export ") ? String(text.dropFirst(7).drop { $0 == " " }) : text
    }

    private func value(
        _ line: SecretBuffer, _ range: Range<Int>, _ number: Int
    ) throws(ImportError) -> HeldSecret {
        guard let first = range.first, [0x22, 0x27].contains(line.byte(first)) else {
            // A comment begins behind a space.
            let end = range.first {
                line.byte($0) == 0x23 && $0 > range.lowerBound && line.isSpace($0 - 1)
            }
            return line.secret(line.trimmed(range.lowerBound..<(end ?? range.upperBound)))
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
        return HeldSecret(value.contents)
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
    /// A section as it was read.
    struct Section {
        let name: String
        let line: Int
        var values: [String: HeldSecret] = [:]

        func text(_ key: String) -> String {
            guard let value = values[key] else { return "" }
            return String(decoding: value.bytes.releasedFromLockedMemory(), as: UTF8.self)
        }
    }

    /// The entries of a section.
    let read: (Section) -> [ImportEntry]
    private var section: Section?

    init(_ read: @escaping (Section) -> [ImportEntry]) { self.read = read }

    mutating func take(
        _ line: SecretBuffer, number: Int, _ put: ImportSource.Put
    ) throws(ImportError) {
        let range = line.trimmed(0..<line.count)
        guard let first = range.first, ![0x23, 0x3B].contains(line.byte(first)) else { return }
        if line.byte(first) == 0x5B {
            guard line.byte(range.upperBound - 1) == 0x5D,
                let name = line.text(line.trimmed(first + 1..<range.upperBound - 1))
            else { throw .malformed(line: number) }
            try finish(put)
            section = Section(name: name, line: number)
            return
        }
        // A line that is set in goes on with the one before: none of ours does.
        guard !line.isSpace(0) else { return }
        guard let sign = range.first(where: { [0x3D, 0x3A].contains(line.byte($0)) }),
            let key = line.text(line.trimmed(range.lowerBound..<sign)), section != nil
        else { throw .malformed(line: number) }
        section?.values[key.lowercased()] = line.secret(
            line.trimmed(sign + 1..<range.upperBound))
    }

    mutating func finish(_ put: ImportSource.Put) throws(ImportError) {
        guard let section else { return }
        for entry in read(section) { try put(entry) }
        self.section = nil
    }

    static var pypirc: SectionLines {
        SectionLines { section in
            guard let password = section.values["password"] else { return [] }
            var entry = ImportEntry(line: section.line)
            entry.title = section.name
            entry.account = section.text("username")
            entry.password = password
            let usual = [
                "pypi": "https://upload.pypi.org/legacy/",
                "testpypi": "https://test.pypi.org/legacy/",
            ]
            let said = section.text("repository")
            entry.address = said.isEmpty ? usual[section.name] ?? "" : said
            return [entry]
        }
    }

    /// A profile's secret key is the item `aws/PROFILE`, whose comment is the key's identifier.
    static var aws: SectionLines {
        SectionLines { section in
            [("aws_secret_access_key", ""), ("aws_session_token", " (session token)")].compactMap {
                guard let secret = section.values[$0.0] else { return nil }
                var entry = ImportEntry(line: section.line)
                entry.title = "aws"
                entry.account = section.name + $0.1
                entry.folder = section.text("aws_access_key_id")
                entry.password = secret
                return entry
            }
        }
    }
}
