// SPDX-License-Identifier: Apache-2.0
import KeychainImport
import KeychainModel
import KeychainSecrets
import Testing

@testable import ImportSources

/// Bitwarden's export with a password of its own. `Tests/CommandLine/bitwarden.py` made this one.
@Suite struct ProtectedExportTests {
    private static let password = "pass wörd"
    private static let salt = "dbPobGL1kWtZuCFin1RMTA=="
    private static let check =
        "2.LHGcVpRbTQxuV3O8GkAdOw==|ayhr6LB7IGyjgFyArqR9eDaFxSMthfLQav9TNs3OinQhUxE/DAr"
        + "fr2tyyHEE3suL|YjgFtFn71GFsmYnsw9rHYk95ZkXgKC1EX50vadfY68c="
    private static let data =
        "2.Z7zRnIjDQWbcTRTWjaNmSA==|VbiMxsVQnVPBoAt/xjA8DAXllFtP8ypDyQqqjxSGMvYkjATVLsY"
        + "OVAE1nnw/m7r1QIZ0/c5WlOoJ9Nu0WUIbKasRWTpGAvD2JJ4EQQvWyHcwfZNjGugR1jkmTjREj3PaE"
        + "ybuaeSFCbKPNW4YV60+gw==|qyFHm3IWIdnO5I3lTBkXgPCb2AyiSpKcX6Zdf3HiAQI="

    private struct Parts {
        var salt = "\"\(ProtectedExportTests.salt)\""
        var type = "0"
        var rounds = "5000"
        var check = ProtectedExportTests.check
        var data = ProtectedExportTests.data

        var text: String {
            """
            {"encrypted": true, "passwordProtected": true, "salt": \(salt), "kdfType": \(type),
            "kdfIterations": \(rounds), "encKeyValidation_DO_NOT_EDIT": "\(check)",
            "data": "\(data)"}
            """
        }
    }

    private struct Found: Equatable {
        var secrets: [String] = []
        var lines: [Int] = []
        var error: ImportError?
    }

    private func read(_ parts: Parts, password: String? = Self.password) -> Found {
        var rest = Array(parts.text.utf8)[...]
        var found = Found()
        let held = password.map { HeldSecret(SecretBytes(copying: Array($0.utf8))) }
        ImportReading(.bitwarden, name: "", password: held).run({
            defer { rest = rest.dropFirst(100) }
            return SecretBytes(copying: Array(rest.prefix(100)))
        }) { message in
            switch message {
            case .item(let item):
                let secret = item.secret.bytes.releasedFromLockedMemory()
                found.secrets.append(String(decoding: secret, as: UTF8.self))
                found.lines.append(item.line)
            case .failed(let error): found.error = error
            case .leftOut, .notBrought, .skipped, .finished: break
            }
            return true
        }
        return found
    }

    @Test func `its password opens it, and its lines are those of the text in it`() {
        #expect(read(Parts()) == Found(secrets: ["bw-ü"], lines: [2]))
    }

    @Test func `without a password it says that it has one`() {
        #expect(read(Parts(), password: nil) == Found(error: .encryptedByPassword))
    }

    @Test(arguments: ["", "pass word", "pass wörd "])
    func `another password opens nothing`(_ password: String) {
        #expect(read(Parts(), password: password) == Found(error: .wrongPassword))
    }

    @Test func `another salt or other rounds open nothing`() {
        var parts = Parts()
        parts.rounds = "5001"
        #expect(read(parts) == Found(error: .wrongPassword))
        parts = Parts()
        parts.salt = "\"\""
        #expect(read(parts) == Found(error: .wrongPassword))
    }

    @Test func `text that was changed is not decrypted`() {
        for position in [3, 30, Self.data.count - 5] {
            var bytes = Array(Self.data.utf8)
            bytes[position] =
                bytes[position] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            var parts = Parts()
            parts.data = String(decoding: bytes, as: UTF8.self)
            #expect(read(parts) == Found(error: .malformed(line: 3)))
        }
    }

    @Test(arguments: ["", "2.", "2.||", "1.QQ==|QQ==|QQ==", "2.QQ==|QQ==|QQ==", "2.?|?|?"])
    func `text that is not as the cipher has it is none`(_ text: String) {
        var parts = Parts()
        parts.data = text
        #expect(read(parts) == Found(error: .malformed(line: 3)))
        parts = Parts()
        parts.check = text
        #expect(read(parts) == Found(error: .malformed(line: 2)))
    }

    /// The file says how long its key takes, so that nothing of it is left for afterwards.
    @Test(arguments: ["2.QQ==|QQ==|QQ==", "2.Z7zRnIjDQWbcTRTWjaNmSA==|QQ==|QQ=="])
    func `every part is looked at before the key is made`(_ text: String) {
        var parts = Parts()
        parts.data = text
        for password in ["another", nil] {
            #expect(read(parts, password: password) == Found(error: .malformed(line: 3)))
        }
        parts = Parts()
        parts.salt = "\"\(String(repeating: "A", count: 1025))\""
        #expect(read(parts) == Found(error: .malformed(line: 1)))
    }

    @Test(arguments: ["4999", "10000001", "9223372036854775807", "-1"])
    func `rounds that are too few or take too long are not begun`(_ rounds: String) {
        var parts = Parts()
        parts.rounds = rounds
        #expect(read(parts) == Found(error: .unsupportedKey))
    }

    @Test func `a key that is made otherwise is not known`() {
        var parts = Parts()
        parts.type = "1"
        #expect(read(parts) == Found(error: .unsupportedKey))
    }

    @Test(arguments: ["null", "1", "[]"])
    func `without a salt there is no key`(_ salt: String) {
        var parts = Parts()
        parts.salt = salt
        #expect(read(parts) == Found(error: .malformed(line: 1)))
    }
}
