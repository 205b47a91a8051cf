// SPDX-License-Identifier: Apache-2.0
package import KeychainImport
package import KeychainSecrets

extension ImportFormat {
    /// `name` is the entry's name in pass, or the service of variables.
    fileprivate func source(_ name: String, _ password: HeldSecret?) -> any ImportSource {
        switch self {
        case .csv: CSVSource()
        case .keepass: KeePassSource()
        case .gitCredentials: ImportLines(GitCredentialLines())
        case .env: ImportLines(EnvironmentLines(name: name))
        case .pypirc: ImportLines(SectionLines.pypirc)
        case .aws: ImportLines(SectionLines.aws)
        case .netrc: ImportWhole(NetrcText.read)
        case .pass, .gopass:
            ImportWhole { text, put throws(ImportError) in
                try PassText.read(text, name: name, put)
            }
        case .docker: ImportWhole(DockerText.read)
        case .bitwarden:
            ImportWhole { text, put throws(ImportError) in
                try BitwardenText.read(text, password: password, put)
            }
        case .onePassword: ImportWhole(OnePasswordText.read)
        case .gnomeKeyring:
            ImportWhole { file, put throws(ImportError) in
                try KeyringFile.read(file, password: password, put)
            }
        // This source is read from a bus, and has no bytes.
        case .secretService: ImportWhole { _, _ throws(ImportError) in throw .unknownFormat }
        }
    }
}

/// Reads a source from its beginning to its end.
package struct ImportReading {
    private let format: ImportFormat
    private let name: String
    private let password: HeldSecret?

    /// `password` is for an export that has one.
    package init(_ format: ImportFormat, name: String, password: HeldSecret? = nil) {
        self.format = format
        self.name = name
        self.password = password
    }

    /// `put` gets each item, and at last the end or the error. The reading ends where it returns
    /// false.
    package func run(_ next: () throws(any Error) -> SecretBytes, _ put: (ImportMessage) -> Bool) {
        do throws(ImportError) {
            try read(next, put)
            _ = put(.finished)
        } catch { _ = put(.failed(error)) }
    }

    /// Reads the decrypted part of a source, so that fuzzers get past a password.
    package static func runOpened(
        _ format: ImportFormat, _ contents: borrowing SecretBytes, _ put: (ImportMessage) -> Bool
    ) {
        let buffer = SecretBuffer(limit: max(1, contents.count))
        _ = buffer.append(contents)
        let give: ImportSource.Put = { entry throws(ImportError) in
            for message in entry.messages {
                guard put(message) else { throw .inputOutput }
            }
        }
        do throws(ImportError) {
            switch format {
            case .bitwarden: try BitwardenText.readOpened(buffer, give)
            case .gnomeKeyring: try KeyringFile.readOpened(buffer, give)
            default: throw .unknownFormat
            }
            _ = put(.finished)
        } catch { _ = put(.failed(error)) }
    }

    private func read(
        _ next: () throws(any Error) -> SecretBytes, _ put: (ImportMessage) -> Bool
    ) throws(ImportError) {
        var bytes = CheckedBytes(
            format.source(name, password), isText: format != .gnomeKeyring)
        func give(_ entry: ImportEntry) throws(ImportError) {
            for message in entry.messages {
                guard put(message) else { throw .inputOutput }
            }
        }
        while true {
            let piece: SecretBytes
            do { piece = try next() } catch { throw .inputOutput }
            if piece.count == 0 { break }
            try piece.withBytes { span throws(ImportError) in
                for position in 0..<span.byteCount { try bytes.take(span.byte(position), give) }
            }
        }
        try bytes.finish(give)
    }
}

/// Checks the bytes of a source: text must have no zeros, and a byte order mark before it is
/// removed.
private struct CheckedBytes {
    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private var source: any ImportSource
    private var check = TextCheck()
    /// The number of bytes of a byte order mark so far; nil once it is known whether there is one.
    /// The bytes themselves are not stored: the first ones of a source may be a secret's.
    private var marked: Int? = 0

    private let isText: Bool

    init(_ source: any ImportSource, isText: Bool) {
        self.source = source
        self.isText = isText
    }

    mutating func take(_ byte: UInt8, _ put: ImportSource.Put) throws(ImportError) {
        guard isText else { return try source.take(byte, line: 1, put) }
        let line = check.line
        try check.take(byte)
        if let count = marked {
            guard byte != Self.mark[count] else {
                marked = count + 1 < Self.mark.count ? count + 1 : nil
                return
            }
            try giveBeginning(put)
        }
        try source.take(byte, line: line, put)
    }

    mutating func finish(_ put: ImportSource.Put) throws(ImportError) {
        guard isText else { return try source.finish(put) }
        try check.finish()
        try giveBeginning(put)
        try source.finish(put)
    }

    /// Passes on bytes that began like a mark and are none.
    private mutating func giveBeginning(_ put: ImportSource.Put) throws(ImportError) {
        let count = marked ?? 0
        marked = nil
        for byte in Self.mark.prefix(count) { try source.take(byte, line: 1, put) }
    }
}
