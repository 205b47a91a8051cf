// SPDX-License-Identifier: Apache-2.0
internal import KeychainImport
internal import KeychainSecrets
internal import LibCrypto
internal import SecretJSON

/// Bitwarden's export with a password of its own: JSON around a text that is encrypted.
struct ProtectedExport {
    private static let stretchedByPBKDF2: Int64 = 0

    private let root: JSONValue

    /// nil for an export that has no password.
    init?(_ root: JSONValue) {
        guard root["encrypted"]?.isTrue == true, root["passwordProtected"]?.isTrue == true else {
            return nil
        }
        self.root = root
    }

    /// The JSON that is in it. The lines of what is read from here on are its own.
    func opened(with password: HeldSecret) throws(ImportError) -> SecretBuffer {
        let key = try key(password)
        // A text that says nothing: it tells a wrong password from a damaged file.
        _ = try text("encKeyValidation_DO_NOT_EDIT").opened(with: key)
        let plain: SecretBytes
        do throws(ImportError) { plain = try text("data").opened(with: key) } catch {
            guard error != .wrongPassword else { throw .malformed(line: root["data"]?.line ?? 1) }
            throw error
        }
        try Self.check(plain)
        let contents = SecretBuffer(limit: max(1, plain.count))
        _ = contents.append(plain)
        return contents
    }

    private func key(_ password: HeldSecret) throws(ImportError) -> ExportKey {
        guard let salt = root["salt"]?.text, let rounds = root.number("kdfIterations") else {
            throw .malformed(line: root.line)
        }
        guard root.number("kdfType") == Self.stretchedByPBKDF2,
            let rounds = Int(exactly: rounds), ExportKey.rounds.contains(rounds)
        else { throw .unsupportedKey }
        do throws(ExportKeyError) {
            return try ExportKey(
                password: password.bytes, salt: salt.secret.bytes, rounds: rounds)
        } catch { throw .inputOutput }
    }

    private func text(_ name: String) throws(ImportError) -> EncryptedText {
        guard let text = root[name]?.text else { throw .malformed(line: root.line) }
        return try EncryptedText(text, line: root[name]?.line ?? root.line)
    }

    /// What comes out of it is looked at as each other source is.
    private static func check(_ plain: borrowing SecretBytes) throws(ImportError) {
        var check = TextCheck()
        try plain.withBytes { span throws(ImportError) in
            for position in 0..<span.byteCount { try check.take(span.byte(position)) }
        }
        try check.finish()
    }
}

/// `2.INITIAL|SEALED|CODE`, each part in base64.
private struct EncryptedText {
    private static let beginning = Array("2.".utf8)

    private let parts: [SecretBuffer]
    private let line: Int

    init(_ text: JSONText, line: Int) throws(ImportError) {
        self.line = line
        let text = SecretBuffer(text)
        var parts: [SecretBuffer] = []
        var start = Self.beginning.count
        guard text.count > start, text.byte(0) == Self.beginning[0],
            text.byte(1) == Self.beginning[1]
        else { throw .malformed(line: line) }
        while parts.count < 3 {
            let end = text.first(UInt8(ascii: "|"), in: start..<text.count) ?? text.count
            guard let part = Base64.decoded(text, start..<end) else {
                throw .malformed(line: line)
            }
            parts.append(part)
            start = min(end + 1, text.count)
        }
        self.parts = parts
    }

    func opened(with key: ExportKey) throws(ImportError) -> SecretBytes {
        do throws(ExportKeyError) {
            return try key.open(
                parts[1].contents, initial: parts[0].contents, code: parts[2].contents)
        } catch {
            throw switch error {
            case .wrongPassword: .wrongPassword
            case .malformed: .malformed(line: line)
            case .failed: .inputOutput
            }
        }
    }
}
