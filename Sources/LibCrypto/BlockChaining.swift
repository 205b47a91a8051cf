// SPDX-License-Identifier: Apache-2.0
internal import CCrypto
internal import KeychainSecrets

/// AES in CBC mode, AES-128 or AES-256 by the key's length. It does not authenticate the bytes.
enum BlockChaining {
    static let blockBytes = 16

    enum Padding {
        /// PKCS#7 padding, which is removed.
        case counted
        /// The bytes fill their blocks, without padding.
        case none
    }

    /// Returns the plain bytes. The key has 16 or 32 bytes.
    static func decrypt(
        _ sealed: borrowing SecretBytes, initial: borrowing SecretBytes,
        key: borrowing SecretBytes, _ padding: Padding = .counted
    ) throws(LibCryptoError) -> SecretBytes {
        precondition(key.count == 16 || key.count == 32)
        guard initial.count == blockBytes, sealed.count > 0, sealed.count % blockBytes == 0 else {
            throw .refused
        }
        // Safe: the context is this function's own until it is freed; key and initial block have the
        // lengths that the cipher takes, and the target has room for one block more than the sealed
        // bytes, which is the most that is written.
        guard let context = unsafe EVP_CIPHER_CTX_new() else { throw .failed }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        let isLong = key.count == 32
        let isReady = key.withBytes { key in
            initial.withBytes { initial in
                unsafe key.withUnsafeBytes { key in
                    unsafe initial.withUnsafeBytes { initial in
                        unsafe EVP_DecryptInit_ex(
                            context, isLong ? EVP_aes_256_cbc() : EVP_aes_128_cbc(), nil,
                            key.bindMemory(to: UInt8.self).baseAddress,
                            initial.bindMemory(to: UInt8.self).baseAddress) == 1
                    }
                }
            }
        }
        guard isReady else { throw .failed }
        if padding == .none { unsafe _ = EVP_CIPHER_CTX_set_padding(context, 0) }
        var count = 0
        let plain = try sealed.withBytes { source throws(LibCryptoError) in
            try SecretBytes(count: source.byteCount + blockBytes) { span throws(LibCryptoError) in
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
                guard isDone else { throw .refused }
                count = Int(first) + Int(last)
            }
        }
        return plain.narrowed(to: 0..<count)
    }
}
