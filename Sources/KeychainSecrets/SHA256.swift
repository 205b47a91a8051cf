// SPDX-License-Identifier: Apache-2.0

/// SHA-256 of public bytes that come in pieces, for policies that identify programs by it.
package struct SHA256: Sendable {
    /// The memory of libsodium's state, in words of the alignment that it needs. A stored property
    /// of the C type would tie this type's layout to a module that clients don't see.
    private var words: [UInt64]

    package init() {
        let size = MemoryLayout<UInt64>.size
        words = Array(repeating: 0, count: (crypto_hash_sha256_statebytes() + size - 1) / size)
        // Safe: the state is this value's own.
        unsafe words.withUnsafeMutableBytes { unsafe crypto_hash_sha256_init($0.baseAddress!) }
    }

    package mutating func update(_ bytes: [UInt8]) {
        // Safe: reads the array's bytes.
        unsafe words.withUnsafeMutableBytes {
            unsafe crypto_hash_sha256_update($0.baseAddress!, bytes, UInt64(bytes.count))
        }
    }

    /// 32 bytes.
    package func digest() -> [UInt8] {
        var words = self.words
        var digest = [UInt8](repeating: 0, count: 32)
        // Safe: the array has room for all of it; the state is a copy.
        unsafe words.withUnsafeMutableBytes {
            unsafe crypto_hash_sha256_final($0.baseAddress!, &digest)
        }
        return digest
    }
}
