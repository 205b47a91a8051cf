// SPDX-License-Identifier: Apache-2.0
internal import CCrypto
package import KeychainSecrets

/// AES-128 in CBC mode with PKCS#7 padding: the encryption of secrets on a bus in an encrypted
/// session.
///
/// It does not authenticate the bytes; the programs at both ends are the same user's.
package enum TransferCipher {
    package static let keyBytes = 16
    package static let blockBytes = BlockChaining.blockBytes

    /// A key from the shared value of an exchange: HKDF with SHA-256, without salt or info.
    package static func key(from shared: borrowing SecretBytes) -> SecretBytes {
        shared.derivedKey(bytes: keyBytes)
    }

    /// The encrypted bytes with their padding, and the initial block.
    package static func encrypt(
        _ plain: borrowing SecretBytes, key: borrowing SecretBytes
    ) throws(LibCryptoError) -> (initial: [UInt8], bytes: [UInt8]) {
        precondition(key.count == keyBytes)
        let initial = RandomBytes.make(blockBytes)
        // Safe: the context is this function's own until it is freed; the target has room for one
        // block more than the plain bytes, which is the most that is written.
        guard let context = unsafe EVP_CIPHER_CTX_new() else { throw .failed }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        let isReady = key.withBytes { bytes in
            unsafe bytes.withUnsafeBytes {
                unsafe EVP_EncryptInit_ex(
                    context, EVP_aes_128_cbc(), nil, $0.bindMemory(to: UInt8.self).baseAddress,
                    initial) == 1
            }
        }
        guard isReady else { throw .failed }
        var isDone = false
        let sealed = plain.withBytes { bytes in
            unsafe [UInt8](unsafeUninitializedCapacity: bytes.byteCount + blockBytes) {
                target, written in
                var first: Int32 = 0
                var last: Int32 = 0
                isDone = unsafe bytes.withUnsafeBytes { source in
                    unsafe EVP_EncryptUpdate(
                        context, target.baseAddress!, &first,
                        source.bindMemory(to: UInt8.self).baseAddress,
                        Int32(clamping: source.count)) == 1
                        && EVP_EncryptFinal_ex(
                            context, target.baseAddress! + Int(first), &last) == 1
                }
                written = isDone ? Int(first) + Int(last) : 0
            }
        }
        guard isDone else { throw .failed }
        return (initial, sealed)
    }

    /// The plain bytes, without their padding.
    package static func decrypt(
        _ sealed: borrowing SecretBytes, initial: [UInt8], key: borrowing SecretBytes
    ) throws(LibCryptoError) -> SecretBytes {
        precondition(key.count == keyBytes)
        return try BlockChaining.decrypt(
            sealed, initial: SecretBytes(copying: initial), key: key)
    }
}
