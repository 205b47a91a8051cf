// SPDX-License-Identifier: Apache-2.0
internal import CCrypto
package import KeychainSecrets

/// Why an encrypted export stays closed.
package enum ExportKeyError: Error, Equatable, Sendable {
    /// Lengths that the cipher does not have.
    case malformed
    /// Another password, or bytes that were changed.
    case wrongPassword
    /// The library did not do its work.
    case failed
}

/// What opens an export that is encrypted with a password: AES-256 in CBC mode, with HMAC-SHA-256
/// over what it was begun with and the sealed bytes.
package struct ExportKey {
    private static let keyBytes = 32
    private static let blockBytes = 16
    private static let codeBytes = 32
    /// The least is what was usual in 2010; the most takes seconds.
    package static let rounds = 5000...10_000_000

    private let cipher: HeldSecret
    private let authentication: HeldSecret

    /// PBKDF2 with SHA-256, and of its key one for each purpose by HKDF's expansion (RFC 5869).
    package init(
        password: borrowing SecretBytes, salt: borrowing SecretBytes, rounds: Int
    ) throws(ExportKeyError) {
        precondition(Self.rounds.contains(rounds))
        let key = try Self.stretched(password, salt, rounds)
        cipher = HeldSecret(try Self.expanded(key, "enc"))
        authentication = HeldSecret(try Self.expanded(key, "mac"))
    }

    /// The plain bytes. Nothing is decrypted before the code is right.
    package func open(
        _ sealed: borrowing SecretBytes, initial: borrowing SecretBytes,
        code: borrowing SecretBytes
    ) throws(ExportKeyError) -> SecretBytes {
        guard initial.count == Self.blockBytes, code.count == Self.codeBytes, sealed.count > 0,
            sealed.count % Self.blockBytes == 0
        else { throw .malformed }
        let computed = try Self.code(of: initial.appending(sealed), under: authentication.bytes)
        guard computed.matches(code) else { throw .wrongPassword }
        return try decrypted(sealed, initial)
    }

    private func decrypted(
        _ sealed: borrowing SecretBytes, _ initial: borrowing SecretBytes
    ) throws(ExportKeyError) -> SecretBytes {
        // Safe: the context is this function's own until it is freed; key and initial block have the
        // lengths that the cipher takes, and the target has room for one block more than the sealed
        // bytes, which is the most that is written.
        guard let context = unsafe EVP_CIPHER_CTX_new() else { throw .failed }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        let isReady = cipher.bytes.withBytes { key in
            initial.withBytes { initial in
                unsafe key.withUnsafeBytes { key in
                    unsafe initial.withUnsafeBytes { initial in
                        unsafe EVP_DecryptInit_ex(
                            context, EVP_aes_256_cbc(), nil,
                            key.bindMemory(to: UInt8.self).baseAddress,
                            initial.bindMemory(to: UInt8.self).baseAddress) == 1
                    }
                }
            }
        }
        guard isReady else { throw .failed }
        var count = 0
        let plain = try sealed.withBytes { source throws(ExportKeyError) in
            try SecretBytes(count: source.byteCount + Self.blockBytes) {
                span throws(ExportKeyError) in
                var first: Int32 = 0
                var last: Int32 = 0
                let isDone = unsafe span.withUnsafeMutableBytes { target in
                    unsafe source.withUnsafeBytes { source in
                        let start = unsafe target.bindMemory(to: UInt8.self).baseAddress!
                        return unsafe EVP_DecryptUpdate(
                            context, start, &first, source.bindMemory(to: UInt8.self).baseAddress,
                            Int32(clamping: source.count)) == 1
                            && EVP_DecryptFinal_ex(context, start + Int(first), &last) == 1
                    }
                }
                guard isDone else { throw .malformed }
                count = Int(first) + Int(last)
            }
        }
        return plain.narrowed(to: 0..<count)
    }

    // MARK: Keys

    private static func stretched(
        _ password: borrowing SecretBytes, _ salt: borrowing SecretBytes, _ rounds: Int
    ) throws(ExportKeyError) -> SecretBytes {
        try password.withBytes { password throws(ExportKeyError) in
            try salt.withBytes { salt throws(ExportKeyError) in
                try SecretBytes(count: keyBytes) { span throws(ExportKeyError) in
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

    /// The first block of the expansion, which is all that is needed of it.
    private static func expanded(
        _ key: borrowing SecretBytes, _ purpose: String
    ) throws(ExportKeyError) -> SecretBytes {
        try code(of: SecretBytes(copying: Array(purpose.utf8) + [1]), under: key)
    }

    private static func code(
        of message: borrowing SecretBytes, under key: borrowing SecretBytes
    ) throws(ExportKeyError) -> SecretBytes {
        try message.withBytes { message throws(ExportKeyError) in
            try key.withBytes { key throws(ExportKeyError) in
                try SecretBytes(count: codeBytes) { span throws(ExportKeyError) in
                    // Safe: as above; the target has the bytes of a code.
                    let isDone = unsafe span.withUnsafeMutableBytes { target in
                        unsafe message.withUnsafeBytes { message in
                            unsafe key.withUnsafeBytes { key in
                                unsafe EVP_Q_mac(
                                    nil, "HMAC", nil, "SHA256", nil, key.baseAddress, key.count,
                                    message.bindMemory(to: UInt8.self).baseAddress, message.count,
                                    target.bindMemory(to: UInt8.self).baseAddress, target.count,
                                    nil) != nil
                            }
                        }
                    }
                    guard isDone else { throw .failed }
                }
            }
        }
    }
}
