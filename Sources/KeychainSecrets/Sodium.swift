// SPDX-License-Identifier: Apache-2.0
@_implementationOnly import CKeychainSodium

// libsodium's functions under their own names. No other file imports its module, and the import is
// hidden: a module that imports this target, however indirectly, need not find libsodium's headers.
// Only function bodies may mention a type of libsodium.

/// Negative where the library can't be used. Initialises once, however often it is called.
func sodium_init() -> Int32 { CKeychainSodium.sodium_init() }

// Safe: allocates; a size that can't be had is nil.
func sodium_malloc(_ count: Int) -> UnsafeMutableRawPointer? {
    unsafe CKeychainSodium.sodium_malloc(count)
}

// Safe: the caller passes what `sodium_malloc` returned, once.
func sodium_free(_ memory: UnsafeMutableRawPointer) { unsafe CKeychainSodium.sodium_free(memory) }

func sodium_memzero(_ memory: UnsafeMutableRawPointer, _ count: Int) {
    // Safe: the caller has `count` bytes there that are its own.
    unsafe CKeychainSodium.sodium_memzero(memory, count)
}

func sodium_memcmp(_ one: UnsafeRawPointer, _ other: UnsafeRawPointer, _ count: Int) -> Int32 {
    // Safe: the caller has `count` bytes on either side; they are only read.
    unsafe CKeychainSodium.sodium_memcmp(one, other, count)
}

func sodium_mlock(_ memory: UnsafeMutableRawPointer, _ count: Int) -> Int32 {
    // Safe: the caller has `count` bytes there; they are locked, not changed.
    unsafe CKeychainSodium.sodium_mlock(memory, count)
}

func randombytes_buf(_ buffer: UnsafeMutableRawPointer, _ count: Int) {
    // Safe: the caller has room for `count` bytes there.
    unsafe CKeychainSodium.randombytes_buf(buffer, count)
}

func crypto_generichash(
    _ out: UnsafeMutablePointer<UInt8>, _ outCount: Int,
    _ message: UnsafePointer<UInt8>?, _ messageCount: UInt64,
    _ key: UnsafePointer<UInt8>?, _ keyCount: Int
) -> Int32 {
    // Safe: the caller has as many bytes behind each pointer as the count beside it says.
    unsafe CKeychainSodium.crypto_generichash(out, outCount, message, messageCount, key, keyCount)
}

/// Argon2id, version 1.3.
func crypto_pwhash_argon2id13(
    _ out: UnsafeMutablePointer<UInt8>, _ outCount: UInt64,
    _ password: UnsafePointer<CChar>, _ passwordCount: UInt64,
    _ salt: UnsafePointer<UInt8>, _ passes: UInt64, _ memoryBytes: Int
) -> Int32 {
    // Safe: as above; the salt has the 16 bytes of `crypto_pwhash_SALTBYTES`.
    unsafe CKeychainSodium.crypto_pwhash(
        out, outCount, password, passwordCount, salt, passes, memoryBytes,
        crypto_pwhash_alg_argon2id13())
}

func crypto_aead_xchacha20poly1305_ietf_encrypt(
    _ sealed: UnsafeMutablePointer<UInt8>,
    _ plain: UnsafePointer<UInt8>?, _ plainCount: UInt64,
    _ context: UnsafePointer<UInt8>?, _ contextCount: UInt64,
    _ nonce: UnsafePointer<UInt8>, _ key: UnsafePointer<UInt8>
) -> Int32 {
    // Safe: as above; the nonce has 24 bytes, the key 32, and `sealed` room for the plain bytes and
    // 16 more.
    unsafe CKeychainSodium.crypto_aead_xchacha20poly1305_ietf_encrypt(
        sealed, nil, plain, plainCount, context, contextCount, nil, nonce, key)
}

func crypto_aead_xchacha20poly1305_ietf_decrypt(
    _ plain: UnsafeMutablePointer<UInt8>?,
    _ sealed: UnsafePointer<UInt8>, _ sealedCount: UInt64,
    _ context: UnsafePointer<UInt8>?, _ contextCount: UInt64,
    _ nonce: UnsafePointer<UInt8>, _ key: UnsafePointer<UInt8>
) -> Int32 {
    // Safe: as above; `plain` has room for the sealed bytes without their last 16.
    unsafe CKeychainSodium.crypto_aead_xchacha20poly1305_ietf_decrypt(
        plain, nil, nil, sealed, sealedCount, context, contextCount, nonce, key)
}

// The state takes `crypto_hash_sha256_statebytes` bytes, aligned as UInt64.

func crypto_hash_sha256_statebytes() -> Int { CKeychainSodium.crypto_hash_sha256_statebytes() }

func crypto_hash_sha256_init(_ state: UnsafeMutableRawPointer) {
    // Safe: never fails; the memory is of the size and alignment that are asked for above.
    _ = unsafe CKeychainSodium.crypto_hash_sha256_init(
        state.assumingMemoryBound(to: crypto_hash_sha256_state.self))
}

func crypto_hash_sha256_update(
    _ state: UnsafeMutableRawPointer, _ bytes: UnsafePointer<UInt8>, _ count: UInt64
) {
    // Safe: as above.
    _ = unsafe CKeychainSodium.crypto_hash_sha256_update(
        state.assumingMemoryBound(to: crypto_hash_sha256_state.self), bytes, count)
}

func crypto_hash_sha256_final(
    _ state: UnsafeMutableRawPointer, _ digest: UnsafeMutablePointer<UInt8>
) {
    // Safe: as above; `digest` has 32 bytes.
    _ = unsafe CKeychainSodium.crypto_hash_sha256_final(
        state.assumingMemoryBound(to: crypto_hash_sha256_state.self), digest)
}

func crypto_auth_hmacsha256(
    _ out: UnsafeMutablePointer<UInt8>, _ message: UnsafePointer<UInt8>?, _ messageCount: UInt64,
    _ key: UnsafePointer<UInt8>
) {
    // Safe: the caller has 32 bytes behind `out` and `key`, and the message's count.
    _ = unsafe CKeychainSodium.crypto_auth_hmacsha256(out, message, messageCount, key)
}
