// SPDX-License-Identifier: Apache-2.0
internal import CCrypto
package import KeychainSecrets

/// The key of a GNOME keyring file: AES-128 in CBC mode without padding, with a digest of the plain
/// bytes before them.
package struct KeyringKey {
    /// The file gives the number; GNOME's own files have some thousands.
    package static let rounds = 1...1_000_000
    package static let saltBytes = 8
    private static let digestBytes = 32
    private static let checkBytes = 16

    private let key: HeldSecret
    private let initial: HeldSecret

    /// Repeats SHA-256, first over password and salt. The halves of the result are the key and the
    /// initial block.
    package init(
        password: borrowing SecretBytes, salt: borrowing SecretBytes, rounds: Int
    ) throws(LibCryptoError) {
        precondition(Self.rounds.contains(rounds))
        let digest = try Digest(.sha256)
        var made = try digest.of(password.appending(salt), bytes: Self.digestBytes)
        for _ in 1..<rounds { made = try digest.of(made, bytes: Self.digestBytes) }
        key = HeldSecret(made.part(0..<Self.digestBytes / 2))
        initial = HeldSecret(made.part(Self.digestBytes / 2..<Self.digestBytes))
    }

    /// Whether this many bytes can be an encrypted part.
    package static func takes(_ sealed: Int) -> Bool {
        sealed >= checkBytes && sealed % BlockChaining.blockBytes == 0
    }

    /// Returns the plain bytes after their digest, with the zeros that fill the last block.
    package func open(
        _ sealed: borrowing SecretBytes
    ) throws(LibCryptoError) -> SecretBytes {
        guard Self.takes(sealed.count) else { throw .refused }
        let plain = try BlockChaining.decrypt(
            sealed, initial: initial.bytes, key: key.bytes, .none)
        let contents = plain.part(Self.checkBytes..<plain.count)
        let computed = try Digest(.md5).of(contents, bytes: Self.checkBytes)
        guard computed.matches(plain.part(0..<Self.checkBytes)) else { throw .wrongPassword }
        return contents
    }
}

/// Computes one digest after another, with one context of the library's.
@safe private struct Digest: ~Copyable {
    private let context: OpaquePointer
    private let algorithm: OpaquePointer

    enum Algorithm { case sha256, md5 }

    init(_ name: Algorithm) throws(LibCryptoError) {
        // Safe: the context is this value's own until its end; the algorithm is a constant of the
        // library's.
        guard let algorithm = unsafe name == .sha256 ? EVP_sha256() : EVP_md5(),
            let made = unsafe EVP_MD_CTX_new()
        else { throw .failed }
        unsafe context = made
        unsafe self.algorithm = algorithm
    }

    // Safe: nothing else has the context.
    deinit { unsafe EVP_MD_CTX_free(context) }

    /// `bytes` is the length of the algorithm's digest.
    borrowing func of(
        _ contents: borrowing SecretBytes, bytes: Int
    ) throws(LibCryptoError) -> SecretBytes {
        try contents.withBytes { source throws(LibCryptoError) in
            try SecretBytes(count: bytes) { span throws(LibCryptoError) in
                // Safe: the library reads as many bytes as the span has, and writes no more than the
                // target has, as is asked first.
                let isDone = unsafe span.withUnsafeMutableBytes { target in
                    unsafe source.withUnsafeBytes { source in
                        unsafe EVP_DigestInit_ex(context, algorithm, nil) == 1
                            && EVP_MD_get_size(algorithm) == Int32(clamping: target.count)
                            && EVP_DigestUpdate(context, source.baseAddress, source.count) == 1
                            && EVP_DigestFinal_ex(
                                context, target.bindMemory(to: UInt8.self).baseAddress, nil) == 1
                    }
                }
                guard isDone else { throw .failed }
            }
        }
    }
}
