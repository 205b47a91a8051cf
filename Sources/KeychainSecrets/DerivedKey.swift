// SPDX-License-Identifier: Apache-2.0

extension SecretBytes {
    /// A key of at most 32 bytes derived from this secret (RFC 5869, HKDF with SHA-256), with a
    /// salt of 32 zeros and no info, as in the Secret Service's encrypted sessions.
    package borrowing func derivedKey(bytes count: Int) -> SecretBytes {
        precondition((1...32).contains(count))
        let salt = SecretBytes(count: 32) { (_: inout MutableRawSpan) in }
        // The extraction's result is the expansion's key; its only block counts from one.
        let extracted = authenticated(by: salt)
        let block = SecretBytes(copying: [1]).authenticated(by: extracted)
        return block.narrowed(to: 0..<count)
    }

    /// HMAC with SHA-256, under a key of 32 bytes.
    package borrowing func authenticated(by key: borrowing SecretBytes) -> SecretBytes {
        precondition(key.count == 32)
        return withBytes { message in
            key.withBytes { key in
                SecretBytes(count: 32) { (span: inout MutableRawSpan) in
                    // Safe: the target and the key have the 32 bytes that the library takes; the
                    // message's length is given with it.
                    unsafe span.withUnsafeMutableBytes { out in
                        unsafe message.withUnsafeBytes { message in
                            unsafe key.withUnsafeBytes { key in
                                unsafe crypto_auth_hmacsha256(
                                    out.bindMemory(to: UInt8.self).baseAddress!,
                                    message.bindMemory(to: UInt8.self).baseAddress,
                                    UInt64(message.count),
                                    key.bindMemory(to: UInt8.self).baseAddress!)
                            }
                        }
                    }
                }
            }
        }
    }
}
