// SPDX-License-Identifier: Apache-2.0

/// A 32-byte XChaCha20-Poly1305 key: seals bytes for a context, and opens them only in that
/// context.
package struct SealingKey: ~Copyable, Sendable {
    package static let byteCount = 32
    /// The bytes that sealing adds: a 24-byte nonce before the ciphertext and a 16-byte tag after
    /// it.
    package static let overhead = 24 + 16
    private static let nonceBytes = 24

    package let bytes: SecretBytes

    package init(_ bytes: consuming SecretBytes) {
        precondition(bytes.count == SealingKey.byteCount)
        self.bytes = bytes
    }

    package static func random() -> SealingKey { SealingKey(SecretBytes(random: byteCount)) }

    /// A key for one purpose, derived from this one, which can't be computed from it.
    package borrowing func derived(for purpose: String) -> SealingKey {
        bytes.withBytes { SealingKey.derived(from: $0, for: Array(purpose.utf8)) }
    }

    /// Derives a key from a key within other bytes.
    package static func derived(from key: RawSpan, for purpose: [UInt8]) -> SealingKey {
        precondition(key.byteCount == byteCount)
        return SealingKey(KeyedHash.secret(key: key, purpose))
    }

    /// nonce ‖ ciphertext ‖ tag. `context` is authenticated, not stored.
    package borrowing func seal(_ plain: borrowing SecretBytes, context: [UInt8]) -> [UInt8] {
        plain.withBytes { seal($0, context: context) }
    }

    package borrowing func seal(_ plain: RawSpan, context: [UInt8]) -> [UInt8] {
        let total = plain.byteCount + Self.overhead
        return unsafe [UInt8](unsafeUninitializedCapacity: total) { out, written in
            // Safe: `out` has room for nonce, ciphertext and tag.
            unsafe seal(plain, context, to: out.baseAddress!)
            written = total
        }
    }

    /// Seals under a fresh random key: that key sealed under this one, then the plain bytes sealed
    /// under it. Key and nonces are one call for random bytes.
    package borrowing func sealBehindNewKey(_ plain: RawSpan, context: [UInt8]) -> [UInt8] {
        let random = SecretBytes(random: Self.byteCount + 2 * Self.nonceBytes)
        let wrapped = Self.byteCount + Self.overhead
        let total = wrapped + plain.byteCount + Self.overhead
        return unsafe [UInt8](unsafeUninitializedCapacity: total) { out, written in
            bytes.withBytes { own in
                random.withBytes { random in
                    let key = random.extracting(first: Self.byteCount)
                    let nonces = random.extracting(Self.byteCount..<random.byteCount)
                    // Safe: `out` has room for the sealed key, and behind it for the sealed bytes.
                    unsafe Self.seal(
                        key, context, own, nonces.extracting(first: Self.nonceBytes),
                        to: out.baseAddress!)
                    unsafe Self.seal(
                        plain, context, key, nonces.extracting(last: Self.nonceBytes),
                        to: out.baseAddress! + wrapped)
                }
            }
            written = total
        }
    }

    /// Seals into memory that is wiped, after a head in clear: hibernation also writes freed memory
    /// to the disk.
    package borrowing func sealForMemory(
        _ plain: RawSpan, context: [UInt8], behind head: [UInt8] = []
    ) -> SecretBytes {
        SecretBytes(count: head.count + plain.byteCount + Self.overhead) {
            (span: inout MutableRawSpan) in
            // Safe: the span has room for the head, and nonce, ciphertext and tag behind it.
            unsafe span.withUnsafeMutableBytes { out in
                unsafe out.copyBytes(from: head)
                let box = unsafe (out.baseAddress! + head.count).assumingMemoryBound(
                    to: UInt8.self)
                unsafe seal(plain, context, to: box)
            }
        }
    }

    private borrowing func seal(
        _ plain: RawSpan, _ context: [UInt8], to out: UnsafeMutablePointer<UInt8>
    ) {
        bytes.withBytes { key in
            // Safe: the callers have room for nonce, ciphertext and tag.
            unsafe randombytes_buf(out, Self.nonceBytes)
            unsafe Self.seal(plain, context, key, to: out)
        }
    }

    private static func seal(
        _ plain: RawSpan, _ context: [UInt8], _ key: RawSpan, _ nonce: RawSpan,
        to out: UnsafeMutablePointer<UInt8>
    ) {
        // Safe: as above; the nonce has its length.
        unsafe nonce.withUnsafeBytes {
            unsafe UnsafeMutableRawPointer(out).copyMemory(
                from: $0.baseAddress!, byteCount: $0.count)
        }
        unsafe seal(plain, context, key, to: out)
    }

    /// The nonce stands there already.
    private static func seal(
        _ plain: RawSpan, _ context: [UInt8], _ key: RawSpan,
        to out: UnsafeMutablePointer<UInt8>
    ) {
        // Safe: sodium reads the nonce, and writes ciphertext and tag behind it and no more.
        unsafe plain.withUnsafeBytes { message in
            unsafe key.withUnsafeBytes { key in
                _ = unsafe crypto_aead_xchacha20poly1305_ietf_encrypt(
                    out + nonceBytes,
                    message.assumingMemoryBound(to: UInt8.self).baseAddress,
                    UInt64(message.count),
                    context, UInt64(context.count), out,
                    key.assumingMemoryBound(to: UInt8.self).baseAddress!)
            }
        }
    }

    /// The sealed bytes, if they were sealed with this key and this context and are unchanged.
    package borrowing func open(
        _ sealed: [UInt8], context: [UInt8]
    ) throws(SecretsError) -> SecretBytes {
        // Safe: the arrays are borrowed until the call has returned, and their spans with them.
        try unsafe sealed.span.bytes.openSealed(key: bytes, context: context.span.bytes)
    }

    package borrowing func open(
        _ sealed: RawSpan, context: [UInt8]
    ) throws(SecretsError) -> SecretBytes {
        // Safe: as above.
        try unsafe sealed.openSealed(key: bytes, context: context.span.bytes)
    }

    package borrowing func open(
        _ sealed: RawSpan, context: ContextBytes
    ) throws(SecretsError) -> SecretBytes {
        // Safe: the context stays where it is until the call has returned, and its span with it.
        try unsafe sealed.openSealed(
            key: bytes, context: context.content.span.bytes.extracting(0..<context.count))
    }
}

/// The bytes of the context of what each read opens: on the stack, where they cost no allocation.
package struct ContextBytes {
    /// What an item's parts are bound to: keychain 16, item 16, class, accessibility, part,
    /// generation 8, fingerprint 32.
    fileprivate private(set) var content = InlineArray<75, UInt8>(repeating: 0)
    fileprivate private(set) var count = 0

    package init() {}

    package mutating func append(_ byte: UInt8) {
        precondition(count < content.count, "a context has parts of fixed lengths")
        // Safe: there is room.
        content[count] = byte
        count += 1
    }

    package mutating func append(_ bytes: [UInt8]) {
        for place in bytes.indices { append(bytes[place]) }
    }

    package mutating func append(bigEndian number: UInt128) {
        for shift in stride(from: 120, through: 0, by: -8) {
            append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    package mutating func append(littleEndian number: UInt64) {
        for shift in stride(from: 0, through: 56, by: 8) {
            append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    package var bytes: [UInt8] { (0..<count).map { content[$0] } }
}

extension RawSpan {
    fileprivate func openSealed(
        key: borrowing SecretBytes, context: RawSpan
    ) throws(SecretsError) -> SecretBytes {
        guard byteCount >= SealingKey.overhead else { throw .notAuthentic }
        let plainCount = byteCount - SealingKey.overhead
        return try key.withBytes { key throws(SecretsError) in
            try SecretBytes(count: plainCount) {
                (plain: inout MutableRawSpan) throws(SecretsError) in
                // Safe: sodium writes exactly `plainCount` bytes and reads the sealed span only.
                let result = unsafe plain.withUnsafeMutableBytes { plain in
                    unsafe self.withUnsafeBytes { sealed in
                        unsafe context.withUnsafeBytes { context in
                            unsafe key.withUnsafeBytes { key in
                                let start = unsafe sealed.assumingMemoryBound(to: UInt8.self)
                                    .baseAddress!
                                return unsafe crypto_aead_xchacha20poly1305_ietf_decrypt(
                                    plain.assumingMemoryBound(to: UInt8.self).baseAddress,
                                    start + 24, UInt64(sealed.count - 24),
                                    context.assumingMemoryBound(to: UInt8.self).baseAddress,
                                    UInt64(context.count), start,
                                    key.assumingMemoryBound(to: UInt8.self).baseAddress!)
                            }
                        }
                    }
                }
                guard result == 0 else { throw .notAuthentic }
            }
        }
    }
}

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
            // Safe: `out` has `count` bytes, the span ends with the call.
            unsafe fill(UnsafeMutableRawBufferPointer(out), key: key, message.span.bytes)
            written = count
        }
    }

    /// Writes a hash as long as `out` (1–64 bytes).
    private static func fill(
        _ out: UnsafeMutableRawBufferPointer, key: RawSpan, _ message: RawSpan
    ) {
        // Safe: the bytes of all three are borrowed for the call.
        unsafe key.withUnsafeBytes { key in
            unsafe message.withUnsafeBytes { message in
                _ = unsafe crypto_generichash(
                    out.assumingMemoryBound(to: UInt8.self).baseAddress!, out.count,
                    message.assumingMemoryBound(to: UInt8.self).baseAddress,
                    UInt64(message.count), key.assumingMemoryBound(to: UInt8.self).baseAddress,
                    key.count)
            }
        }
    }

    /// The first eight bytes of a hash of sixteen, as a little-endian number.
    package static func number(key: RawSpan, _ message: [UInt8]) -> UInt64 {
        var hash: (UInt64, UInt64) = (0, 0)
        unsafe withUnsafeMutableBytes(of: &hash) { out in
            // Safe: `out` has the sixteen bytes.
            unsafe fill(out, key: key, message.span.bytes)
        }
        return UInt64(littleEndian: hash.0)
    }

    /// A hash that is itself a key.
    package static func secret(
        key: borrowing SecretBytes, _ message: [UInt8], count: Int = 32
    ) -> SecretBytes {
        key.withBytes { secret(key: $0, message, count: count) }
    }

    package static func secret(
        key: RawSpan, _ message: [UInt8], count: Int = 32
    ) -> SecretBytes {
        // Safe: the span ends with the call.
        secret(key: key, unsafe message.span.bytes, count: count)
    }

    private static func secret(key: RawSpan, _ message: RawSpan, count: Int) -> SecretBytes {
        precondition((16...64).contains(count))
        return SecretBytes(count: count) { (out: inout MutableRawSpan) in
            // Safe: the output is the new secret's own memory.
            unsafe out.withUnsafeMutableBytes { unsafe fill($0, key: key, message) }
        }
    }

    /// A key that depends on both secrets: a hash of the message under the key, mixed with one
    /// under the other.
    package static func secret(
        key: borrowing SecretBytes, _ message: [UInt8], mixedWith other: borrowing SecretBytes
    ) -> SecretBytes {
        key.withBytes { secret(key: $0, message, mixedWith: other) }
    }

    package static func secret(
        key: RawSpan, _ message: [UInt8], mixedWith other: borrowing SecretBytes
    ) -> SecretBytes {
        let first = secret(key: key, message)
        var digest: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        return unsafe withUnsafeMutableBytes(of: &digest) { digest in
            // Safe: the digest has 32 bytes, and is wiped before they go.
            defer { unsafe sodium_memzero(digest.baseAddress!, digest.count) }
            other.withBytes { unsafe fill(digest, key: $0, message.span.bytes) }
            return first.withBytes { key in
                secret(key: key, unsafe RawSpan(_unsafeBytes: digest), count: 32)
            }
        }
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

/// Random bytes that are not secret: identifiers and nonces.
package enum RandomBytes {
    package static func make(_ count: Int) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: count) { out, written in
            // Safe: fills what it was given.
            if count > 0 { unsafe randombytes_buf(out.baseAddress!, count) }
            written = count
        }
    }
}
