// SPDX-License-Identifier: Apache-2.0

/// Keyed BLAKE2b: for index entries that only the key's holder can make or check, and for deriving
/// one key from another.
package enum KeyedHash {
    /// A hash of `count` bytes (1–64) of the message under the key.
    package static func hash(
        key: borrowing SecretBytes, _ message: [UInt8], count: Int = 32
    ) -> [UInt8] {
        key.withBytes { hash(key: $0, message, count: count) }
    }

    package static func hash(key: RawSpan, _ message: [UInt8], count: Int = 32) -> [UInt8] {
        precondition((1...64).contains(count))
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { out, written in
            // Safe: `out` has `count` bytes, the inputs are borrowed for the call.
            unsafe key.withUnsafeBytes { key in
                _ = unsafe crypto_generichash(
                    out.baseAddress!, count, message, UInt64(message.count),
                    key.assumingMemoryBound(to: UInt8.self).baseAddress, key.count)
            }
            written = count
        }
    }

    /// The first eight bytes of a hash of sixteen, as a number, the lowest first.
    package static func number(key: RawSpan, _ message: [UInt8]) -> UInt64 {
        var hash: (UInt64, UInt64) = (0, 0)
        unsafe withUnsafeMutableBytes(of: &hash) { out in
            // Safe: `out` has the sixteen bytes; the rest as above.
            unsafe key.withUnsafeBytes { key in
                _ = unsafe crypto_generichash(
                    out.assumingMemoryBound(to: UInt8.self).baseAddress!, 16, message,
                    UInt64(message.count), key.assumingMemoryBound(to: UInt8.self).baseAddress,
                    key.count)
            }
        }
        return UInt64(littleEndian: hash.0)
    }

    /// The same, for a result that is a key itself.
    package static func secret(
        key: borrowing SecretBytes, _ message: [UInt8], count: Int = 32
    ) -> SecretBytes {
        key.withBytes { secret(key: $0, message, count: count) }
    }

    package static func secret(
        key: RawSpan, _ message: [UInt8], count: Int = 32
    ) -> SecretBytes {
        precondition((16...64).contains(count))
        return SecretBytes(count: count) { (out: inout MutableRawSpan) in
            // Safe: as above; the output is the new secret's own memory.
            unsafe out.withUnsafeMutableBytes { out in
                unsafe key.withUnsafeBytes { key in
                    _ = unsafe crypto_generichash(
                        out.assumingMemoryBound(to: UInt8.self).baseAddress!, count,
                        message, UInt64(message.count),
                        key.assumingMemoryBound(to: UInt8.self).baseAddress, key.count)
                }
            }
        }
    }

    /// A key that needs both: a hash of the message under the key, and that under the other secret.
    package static func secret(
        key: borrowing SecretBytes, _ message: [UInt8], mixedWith other: borrowing SecretBytes
    ) -> SecretBytes {
        key.withBytes { secret(key: $0, message, mixedWith: other) }
    }

    package static func secret(
        key: RawSpan, _ message: [UInt8], mixedWith other: borrowing SecretBytes
    ) -> SecretBytes {
        let first = secret(key: key, message)
        let digest = hash(key: other, message)
        return secret(key: first, digest)
    }

    /// A key from a secret of any length, for one purpose (1–64 bytes).
    package static func secret(
        hashing secret: borrowing SecretBytes, _ purpose: [UInt8]
    ) -> SecretBytes {
        precondition((1...64).contains(purpose.count))
        return secret.withBytes { bytes in
            SecretBytes(count: 32) { (out: inout MutableRawSpan) in
                // Safe: as above.
                unsafe out.withUnsafeMutableBytes { out in
                    unsafe bytes.withUnsafeBytes { bytes in
                        _ = unsafe crypto_generichash(
                            out.assumingMemoryBound(to: UInt8.self).baseAddress!, out.count,
                            bytes.assumingMemoryBound(to: UInt8.self).baseAddress,
                            UInt64(bytes.count), purpose, purpose.count)
                    }
                }
            }
        }
    }

    /// An unkeyed fingerprint of public bytes.
    package static func fingerprint(_ message: [UInt8], count: Int = 32) -> [UInt8] {
        precondition((16...64).contains(count))
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { out, written in
            // Safe: `out` has `count` bytes.
            _ = unsafe crypto_generichash(
                out.baseAddress!, count, message, UInt64(message.count), nil, 0)
            written = count
        }
    }
}

/// Bytes from the system's random source that are no secret: identifiers and nonces.
package enum RandomBytes {
    package static func make(_ count: Int) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: count) { out, written in
            // Safe: fills what it was given.
            if count > 0 { unsafe randombytes_buf(out.baseAddress!, count) }
            written = count
        }
    }
}
