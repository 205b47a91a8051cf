// SPDX-License-Identifier: Apache-2.0
internal import CCrypto
package import KeychainSecrets

/// One side of a Diffie-Hellman exchange in the second Oakley group (RFC 2409, 6.2) with generator
/// 2, for one use.
package struct KeyExchange: ~Copyable, Sendable {
    /// The bytes of the prime, and of each value that is sent.
    package static let valueBytes = 128
    /// The group has less strength than 512 bits of exponent.
    private static let exponentBytes = 64

    /// Big-endian, with zeros in front.
    package let publicValue: [UInt8]
    private let exponent: SecretBytes

    package init() throws(LibCryptoError) {
        let exponent = SecretBytes(random: Self.exponentBytes)
        let value = try Self.power([2], exponent)
        // This value is sent in clear.
        publicValue = value.releasedFromLockedMemory()
        self.exponent = exponent
    }

    /// The shared value of both sides, big-endian with zeros in front: 128 bytes.
    ///
    /// Refuses 0, 1, p−1 and larger values, which give a shared value that an attacker can guess.
    package consuming func shared(with value: [UInt8]) throws(LibCryptoError) -> SecretBytes {
        let significant = Array(value.drop { $0 == 0 })
        guard significant.count <= Self.valueBytes,
            significant.count > 1 || (significant.first ?? 0) > 1,
            try Self.isBelowLast(significant)
        else { throw .refused }
        return try Self.power(significant, exponent)
    }

    /// Whether the value is below p−1.
    private static func isBelowLast(_ value: [UInt8]) throws(LibCryptoError) -> Bool {
        // Safe: both numbers are this function's own until it frees them; the array's length is
        // given with it.
        guard let last = unsafe BN_get_rfc2409_prime_1024(nil) else { throw .failed }
        defer { unsafe BN_free(last) }
        guard unsafe BN_sub_word(last, 1) == 1,
            let number = unsafe BN_bin2bn(value, Int32(clamping: value.count), nil)
        else { throw .failed }
        defer { unsafe BN_free(number) }
        return unsafe BN_cmp(number, last) < 0
    }

    /// The power of a public base, in time that does not depend on the exponent.
    private static func power(
        _ base: [UInt8], _ exponent: borrowing SecretBytes
    ) throws(LibCryptoError) -> SecretBytes {
        SecureHeap.prepare()
        // Safe: every number is this function's own and is freed here, those with secrets wiped; the
        // lengths are those of the spans.
        guard let context = unsafe BN_CTX_secure_new() else { throw .failed }
        defer { unsafe BN_CTX_free(context) }
        guard let prime = unsafe BN_get_rfc2409_prime_1024(nil) else { throw .failed }
        defer { unsafe BN_free(prime) }
        guard let secret = unsafe BN_secure_new() else { throw .failed }
        defer { unsafe BN_clear_free(secret) }
        guard let result = unsafe BN_secure_new() else { throw .failed }
        defer { unsafe BN_clear_free(result) }
        guard let number = unsafe BN_bin2bn(base, Int32(clamping: base.count), nil) else {
            throw .failed
        }
        defer { unsafe BN_free(number) }
        let isRead = exponent.withBytes { bytes in
            unsafe bytes.withUnsafeBytes {
                unsafe BN_bin2bn(
                    $0.bindMemory(to: UInt8.self).baseAddress, Int32(clamping: $0.count), secret)
                    != nil
            }
        }
        guard isRead else { throw .failed }
        unsafe BN_set_flags(secret, BN_FLG_CONSTTIME)
        guard
            unsafe BN_mod_exp_mont_consttime(result, number, secret, prime, context, nil) == 1
        else { throw .failed }
        return try SecretBytes(count: valueBytes) { span throws(LibCryptoError) in
            let written = unsafe span.withUnsafeMutableBytes {
                unsafe BN_bn2binpad(
                    result, $0.bindMemory(to: UInt8.self).baseAddress, Int32(valueBytes))
            }
            guard written == Int32(valueBytes) else { throw .failed }
        }
    }
}

/// The library's own locked memory for its numbers.
private enum SecureHeap {
    private static let bytes = 256 * 1024
    private static let smallest = 32

    /// The library makes it once. Where the machine has no memory to lock, numbers are wiped all
    /// the same.
    private static let prepared: Void = { _ = CRYPTO_secure_malloc_init(bytes, smallest) }()

    static func prepare() { prepared }
}
