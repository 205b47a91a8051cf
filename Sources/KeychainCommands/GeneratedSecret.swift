// SPDX-License-Identifier: Apache-2.0
internal import KeychainSecrets

/// A secret of letters, digits, `-` and `_`, each of the 64 as likely as the others: six bits a
/// character.
enum GeneratedSecret {
    /// nil for what is no number, or too few or too many characters.
    static func length(_ text: String) -> Int? {
        Int(text).flatMap { (8...1023).contains($0) ? $0 : nil }
    }

    static let option = "--generate"
    static let usualLength = "32"

    /// The arguments with the length where none was said: the parser would take the next word for it.
    static func spelledOut(_ arguments: [String]) -> [String] {
        let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
        let own = arguments[..<end].map { $0 == option ? "\(option)=\(usualLength)" : $0 }
        return own + arguments[end...]
    }

    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    static func make(_ characters: Int) -> SecretBytes {
        var secret = SecretBytes(random: characters)
        secret.replace { alphabet[Int($0 & 0x3F)] }
        return secret
    }
}
