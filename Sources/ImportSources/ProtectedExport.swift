// SPDX-License-Identifier: Apache-2.0
internal import KeychainImport
internal import KeychainSecrets
internal import LibCrypto
internal import SecretJSON

/// Bitwarden's export with a password of its own: JSON around an encrypted text.
struct ProtectedExport {
    private static let stretchedByPBKDF2: Int64 = 0
    private static let longestSalt = 1024

    private let salt: HeldSecret
    private let rounds: Int
    /// A text without content, which tells a wrong password from a damaged file.
    private let check: EncryptedText
    private let data: EncryptedText

    /// nil for an export without a password. All parts are checked before a password is asked for
    /// and a key is made, since the file decides how long that takes.
    init?(_ root: SecretJSONValue) throws(ImportError) {
        guard root["encrypted"]?.isTrue == true, root["passwordProtected"]?.isTrue == true else {
            return nil
        }
        guard let salt = root["salt"]?.text?.secret, salt.bytes.count <= Self.longestSalt,
            let rounds = root.number("kdfIterations")
        else { throw .malformed(line: root.line) }
        guard root.number("kdfType") == Self.stretchedByPBKDF2,
            let rounds = Int(exactly: rounds), ExportKey.rounds.contains(rounds)
        else { throw .unsupportedKey }
        self.salt = salt
        self.rounds = rounds
        check = try EncryptedText(in: root, "encKeyValidation_DO_NOT_EDIT")
        data = try EncryptedText(in: root, "data")
    }

    /// The JSON inside. Its lines are counted by themselves.
    func opened(with password: HeldSecret) throws(ImportError) -> SecretBuffer {
        let key: ExportKey
        do throws(LibCryptoError) {
            key = try ExportKey(password: password.bytes, salt: salt.bytes, rounds: rounds)
        } catch { throw .inputOutput }
        _ = try check.opened(with: key)
        let plain: SecretBytes
        do throws(ImportError) { plain = try data.opened(with: key) } catch {
            throw error == .wrongPassword ? .malformed(line: data.line) : error
        }
        let contents = SecretBuffer(limit: max(1, plain.count))
        _ = contents.append(plain)
        return contents
    }
}

/// `2.INITIAL|SEALED|CODE`, each part in base64.
private struct EncryptedText {
    private static let beginning = Array("2.".utf8)

    private let parts: [SecretBuffer]
    let line: Int

    init(in root: SecretJSONValue, _ name: String) throws(ImportError) {
        guard let encoded = root[name]?.text else { throw .malformed(line: root.line) }
        line = root[name]?.line ?? root.line
        let text = SecretBuffer(encoded)
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
        guard
            ExportKey.takes(
                initial: parts[0].count, sealed: parts[1].count, code: parts[2].count)
        else { throw .malformed(line: line) }
        self.parts = parts
    }

    func opened(with key: ExportKey) throws(ImportError) -> SecretBytes {
        do throws(LibCryptoError) {
            return try key.open(
                parts[1].contents, initial: parts[0].contents, code: parts[2].contents)
        } catch {
            throw switch error {
            case .wrongPassword: .wrongPassword
            case .refused: .malformed(line: line)
            case .failed: .inputOutput
            }
        }
    }
}
