// SPDX-License-Identifier: Apache-2.0
internal import KeychainImport
internal import KeychainModel
internal import KeychainSecrets
internal import LibCrypto

/// A keyring file of GNOME's: encrypted, or plain text where its password is empty.
///
/// The encrypted form has big-endian numbers, and texts after their length: a magic number ‖
/// version (2) ‖ cipher ‖ digest ‖ name ‖ dates (16) ‖ flags (4) ‖ timeout (4) ‖ rounds (4) ‖ salt
/// (8) ‖ zeros (16) ‖ count ‖ items with digests of their attributes ‖ length ‖ the encrypted part.
struct KeyringFile {
    private static let beginning = Array("GnomeKeyring\n\r\0\n".utf8)
    private static let mostItems = 100_000

    private let salt: HeldSecret
    private let rounds: Int
    private let types: [UInt32]
    private let sealed: HeldSecret

    static func read(
        _ file: SecretBuffer, password: HeldSecret?, _ put: ImportSource.Put
    ) throws(ImportError) {
        guard file.begins(with: beginning) else { return try KeyringText.read(file, put) }
        // The clear part is checked before the key is made, since the file decides how long that
        // takes.
        let keyring = try KeyringFile(file)
        guard let password else { throw .encryptedByPassword }
        try readItems(try keyring.opened(with: password), keyring.types, put)
    }

    private init(_ file: SecretBuffer) throws(ImportError) {
        var reader = KeyringReader(file, from: Self.beginning.count)
        // Version 0.0 with AES and MD5 is the only one.
        guard try reader.number32() == 0 else { throw .unsupportedKey }
        _ = try reader.text()
        try reader.skip(16 + 4 + 4)
        guard let rounds = Int(exactly: try reader.number32()), KeyringKey.rounds.contains(rounds)
        else { throw .unsupportedKey }
        self.rounds = rounds
        salt = file.secret(try reader.take(KeyringKey.saltBytes))
        try reader.skip(16)
        let count = try reader.number32()
        guard count <= UInt32(Self.mostItems) else { throw .tooLarge }
        var types: [UInt32] = []
        for _ in 0..<count {
            _ = try reader.number32()
            types.append(try reader.number32())
            // These digests are for searching a locked keyring.
            try reader.attributes { _, _ throws(ImportError) in }
        }
        self.types = types
        guard let length = Int(exactly: try reader.number32()), KeyringKey.takes(length) else {
            throw .damaged
        }
        sealed = file.secret(try reader.take(length))
        guard reader.isAtEnd else { throw .damaged }
    }

    private func opened(
        with password: HeldSecret
    ) throws(ImportError) -> SecretBuffer {
        do throws(LibCryptoError) {
            let key = try KeyringKey(password: password.bytes, salt: salt.bytes, rounds: rounds)
            let plain = try key.open(sealed.bytes)
            let contents = SecretBuffer(limit: max(1, plain.count))
            _ = contents.append(plain)
            return contents
        } catch {
            throw switch error {
            case .wrongPassword: .wrongPassword
            case .refused: .damaged
            case .failed: .inputOutput
            }
        }
    }

    /// Reads the encrypted part of a file by itself, after the number of its items.
    static func readOpened(
        _ plain: SecretBuffer, _ put: ImportSource.Put
    ) throws(ImportError) {
        var reader = KeyringReader(plain, from: 0)
        let count = try reader.number32()
        guard count <= UInt32(mostItems) else { throw .tooLarge }
        let contents = SecretBuffer(limit: max(1, plain.count))
        _ = contents.append(plain.part(4..<plain.count))
        try readItems(contents, Array(repeating: 1, count: Int(count)), put)
    }

    /// Reads the decrypted part: for each item label ‖ secret ‖ dates (16) ‖ a text ‖ zeros (16) ‖
    /// attributes ‖ the programs that it let in.
    private static func readItems(
        _ plain: SecretBuffer, _ types: [UInt32], _ put: ImportSource.Put
    ) throws(ImportError) {
        var reader = KeyringReader(plain, from: 0)
        for (index, type) in types.enumerated() {
            let label = try reader.text()
            let secret = try reader.text().map { plain.secret($0) }
            var item = AttributedItem(
                number: index + 1, secret: secret ?? HeldSecret(SecretBytes(copying: [])))
            item.created = try reader.number64()
            item.modified = try reader.number64()
            _ = try reader.text()
            try reader.skip(16)
            var isText = true
            item.label = label.flatMap { plain.plainText($0) } ?? ""
            if let label, !label.isEmpty, item.label.isEmpty { isText = false }
            try reader.attributes { name, value throws(ImportError) in
                guard let name = plain.plainText(name), let text = value.text(plain) else {
                    isText = false
                    return
                }
                item.takeOfKeyring(name, text)
            }
            try reader.skipPrograms()
            item.take(type: KeyringTypes.schema(type))
            try put(isText ? .attributed(item) : .skipped(item, .notText))
        }
    }
}

/// The names on the bus for GNOME's numbers of types.
enum KeyringTypes {
    private static let kind: UInt32 = 0xFFFF
    private static let schemas: [UInt32: String] = [
        1: "org.gnome.keyring.NetworkPassword", 2: "org.gnome.keyring.Note",
        3: "org.gnome.keyring.ChainedKeyring", 4: "org.gnome.keyring.EncryptionKey",
        0x100: "org.gnome.keyring.PkStorage",
    ]

    /// Empty for the general type. The upper bits say that the item is one program's alone.
    static func schema(_ type: UInt32) -> String { schemas[type & kind] ?? "" }
}

extension AttributedItem {
    private static let hidden = "gkr:compat:"

    /// Leaves out names that GNOME's keyring uses itself and tells no program. Of too many it keeps
    /// one more than an item may have, so that the item is refused.
    mutating func takeOfKeyring(_ name: String, _ value: String) {
        guard !name.hasPrefix(Self.hidden), pairs.count <= AttributedLimits.mostPairs else {
            return
        }
        pairs[.pair(name)] = .string(value)
    }
}

/// Reads numbers and texts from front to back.
private struct KeyringReader {
    enum Value {
        case text(Range<Int>)
        case number(UInt32)

        /// nil for other values than texts.
        func text(_ file: SecretBuffer) -> String? {
            switch self {
            case .text(let range): file.plainText(range)
            case .number(let number): String(number)
            }
        }
    }

    private static let nothing = UInt32.max
    private static let mostAttributes: UInt32 = 1024
    private static let mostPrograms: UInt32 = 1024

    private let file: SecretBuffer
    private var position: Int

    init(_ file: SecretBuffer, from position: Int) {
        self.file = file
        self.position = position
    }

    var isAtEnd: Bool { position == file.count }

    mutating func take(_ count: Int) throws(ImportError) -> Range<Int> {
        guard count <= file.count - position else { throw .damaged }
        defer { position += count }
        return position..<position + count
    }

    mutating func skip(_ count: Int) throws(ImportError) { _ = try take(count) }

    mutating func number32() throws(ImportError) -> UInt32 {
        try take(4).reduce(0) { $0 << 8 | UInt32(file.byte($1)) }
    }

    mutating func number64() throws(ImportError) -> UInt64 {
        try take(8).reduce(0) { $0 << 8 | UInt64(file.byte($1)) }
    }

    /// nil for an absent text.
    mutating func text() throws(ImportError) -> Range<Int>? {
        let length = try number32()
        guard length != Self.nothing else { return nil }
        guard let length = Int(exactly: length) else { throw .damaged }
        return try take(length)
    }

    mutating func attributes(
        _ body: (Range<Int>, Value) throws(ImportError) -> Void
    ) throws(ImportError) {
        let count = try number32()
        guard count <= Self.mostAttributes else { throw .damaged }
        for _ in 0..<count {
            guard let name = try text() else { throw .damaged }
            switch try number32() {
            case 0: try body(name, .text(try text() ?? position..<position))
            case 1: try body(name, .number(try number32()))
            default: throw .damaged
            }
        }
    }

    mutating func skipPrograms() throws(ImportError) {
        let count = try number32()
        guard count <= Self.mostPrograms else { throw .damaged }
        for _ in 0..<count {
            try skip(4)
            for _ in 0..<3 { _ = try text() }
            try skip(4)
        }
    }
}

extension SecretBuffer {
    func begins(with bytes: [UInt8]) -> Bool {
        count >= bytes.count && bytes.indices.allSatisfy { byte($0) == bytes[$0] }
    }

    /// nil for bytes that are not UTF-8, or have a zero byte, which no text on a bus has.
    func plainText(_ range: Range<Int>) -> String? {
        guard first(0, in: range) == nil else { return nil }
        return text(range)
    }
}
