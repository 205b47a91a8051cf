// SPDX-License-Identifier: Apache-2.0
internal import CCrypto
package import KeychainSecrets

/// The key of an export that is encrypted with a password: AES-256 in CBC mode, with HMAC-SHA-256
/// over the initial block and the sealed bytes.
package struct ExportKey {
    private static let keyBytes = 32
    private static let codeBytes = 32
    /// The least was usual in 2010; the most takes seconds.
    package static let rounds = 5000...10_000_000

    private let cipher: HeldSecret
    private let authentication: HeldSecret

    /// PBKDF2 with SHA-256, and from its key one for each purpose by HKDF's expansion (RFC 5869).
    package init(
        password: borrowing SecretBytes, salt: borrowing SecretBytes, rounds: Int
    ) throws(LibCryptoError) {
        precondition(Self.rounds.contains(rounds))
        let key = try Self.stretched(password, salt, rounds)
        cipher = HeldSecret(Self.expanded(key, "enc"))
        authentication = HeldSecret(Self.expanded(key, "mac"))
    }

    /// Whether parts of these lengths can be an encrypted text. Check it before making a key, which
    /// may take as long as the file demands.
    package static func takes(initial: Int, sealed: Int, code: Int) -> Bool {
        initial == BlockChaining.blockBytes && code == codeBytes && sealed > 0
            && sealed % BlockChaining.blockBytes == 0
    }

    /// Returns the plain bytes. Nothing is decrypted before the code is verified.
    package func open(
        _ sealed: borrowing SecretBytes, initial: borrowing SecretBytes,
        code: borrowing SecretBytes
    ) throws(LibCryptoError) -> SecretBytes {
        guard Self.takes(initial: initial.count, sealed: sealed.count, code: code.count) else {
            throw .refused
        }
        let computed = initial.appending(sealed).authenticated(by: authentication.bytes)
        guard computed.matches(code) else { throw .wrongPassword }
        return try BlockChaining.decrypt(sealed, initial: initial, key: cipher.bytes)
    }

    // MARK: Keys

    private static func stretched(
        _ password: borrowing SecretBytes, _ salt: borrowing SecretBytes, _ rounds: Int
    ) throws(LibCryptoError) -> SecretBytes {
        try password.withBytes { password throws(LibCryptoError) in
            try salt.withBytes { salt throws(LibCryptoError) in
                try SecretBytes(count: keyBytes) { span throws(LibCryptoError) in
                    // Safe: the library reads and writes as many bytes as the lengths say, which
                    // are those of the spans.
                    let isDone = unsafe span.withUnsafeMutableBytes { target in
                        unsafe password.withUnsafeBytes { password in
                            unsafe salt.withUnsafeBytes { salt in
                                unsafe PKCS5_PBKDF2_HMAC(
                                    password.bindMemory(to: CChar.self).baseAddress,
                                    Int32(clamping: password.count),
                                    salt.bindMemory(to: UInt8.self).baseAddress,
                                    Int32(clamping: salt.count), Int32(clamping: rounds),
                                    EVP_sha256(), Int32(clamping: target.count),
                                    target.bindMemory(to: UInt8.self).baseAddress) == 1
                            }
                        }
                    }
                    guard isDone else { throw .failed }
                }
            }
        }
    }

    /// The first block of the expansion, which is enough.
    private static func expanded(
        _ key: borrowing SecretBytes, _ purpose: String
    ) -> SecretBytes {
        SecretBytes(copying: Array(purpose.utf8) + [1]).authenticated(by: key)
    }
}
