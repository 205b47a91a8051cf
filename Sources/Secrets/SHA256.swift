// SPDX-License-Identifier: Apache-2.0
internal import CSodium

/// SHA-256 of public bytes that come in pieces: what policies name programs by.
public struct SHA256: Sendable {
    private var state = crypto_hash_sha256_state()

    public init() {
        // Safe: the state is this value's own.
        _ = unsafe crypto_hash_sha256_init(&state)
    }

    public mutating func update(_ bytes: [UInt8]) {
        // Safe: reads the array's bytes.
        _ = unsafe crypto_hash_sha256_update(&state, bytes, UInt64(bytes.count))
    }

    /// 32 bytes.
    public func digest() -> [UInt8] {
        var state = self.state
        var digest = [UInt8](repeating: 0, count: 32)
        // Safe: the array has room for all of it.
        _ = unsafe crypto_hash_sha256_final(&state, &digest)
        return digest
    }
}
