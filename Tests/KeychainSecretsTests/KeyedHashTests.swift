// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import KeychainSecrets

@Suite struct KeyedHashTests {
    private let key = HeldSecret(SecretBytes(copying: (0..<64).map { UInt8($0) }))

    @Test func `the hash is keyed BLAKE2b as its reference has it`() {
        // blake2b-kat: key 00…3f, input empty and 00.
        #expect(
            KeyedHash.hash(key: key.bytes, [], count: 64).prefix(8)
                == [0x10, 0xeb, 0xb6, 0x77, 0x00, 0xb1, 0x86, 0x8e])
        #expect(
            KeyedHash.hash(key: key.bytes, [0], count: 64).prefix(8)
                == [0x96, 0x1f, 0x6d, 0xd1, 0xe4, 0xdd, 0x30, 0xf6])
    }

    @Test func `hash and secret of the same are the same`() {
        let hash = KeyedHash.hash(key: key.bytes, [1, 2])
        #expect(KeyedHash.secret(key: key.bytes, [1, 2]).releasedFromLockedMemory() == hash)
        #expect(hash.count == 32)
        #expect(KeyedHash.hash(key: key.bytes, [1, 2], count: 8).count == 8)
    }

    @Test func `another key or message gives another hash`() {
        let hash = KeyedHash.hash(key: key.bytes, [1, 2])
        #expect(hash != KeyedHash.hash(key: key.bytes, [1, 3]))
        let other = KeyedHash.hash(key: SecretBytes(random: 32), [1, 2])
        #expect(hash != other)
    }

    @Test func `a mixed key needs both secrets`() {
        let first = HeldSecret(SecretBytes(random: 32))
        let second = HeldSecret(SecretBytes(random: 32))
        let third = HeldSecret(SecretBytes(random: 32))
        func mix(_ key: HeldSecret, _ message: [UInt8], _ other: HeldSecret) -> [UInt8] {
            KeyedHash.secret(key: key.bytes, message, mixedWith: other.bytes)
                .releasedFromLockedMemory()
        }
        let mixed = mix(first, [1], second)
        #expect(mix(first, [1], second) == mixed)
        #expect(mix(second, [1], first) != mixed)
        #expect(mix(first, [1], third) != mixed)
        #expect(mix(third, [1], second) != mixed)
        #expect(mix(first, [2], second) != mixed)
    }

    @Test func `a mixed key is what earlier files were sealed with`() {
        let first = SecretBytes(random: 32)
        let second = SecretBytes(random: 32)
        let inner = KeyedHash.secret(key: first, [1, 2])
        let key = KeyedHash.secret(key: inner, KeyedHash.hash(key: second, [1, 2]))
        let isSame = KeyedHash.secret(key: first, [1, 2], mixedWith: second).matches(key)
        #expect(isSame)
    }

    @Test func `fingerprints are BLAKE2b without a key`() {
        // RFC 7693, appendix A.
        #expect(
            KeyedHash.fingerprint(Array("abc".utf8), count: 64).prefix(8)
                == [0xba, 0x80, 0xa5, 0x3f, 0x98, 0x1c, 0x4d, 0x0d])
    }

    @Test func `random bytes have their length and differ`() {
        #expect(RandomBytes.make(0) == [])
        #expect(RandomBytes.make(16).count == 16)
        #expect(RandomBytes.make(16) != RandomBytes.make(16))
    }
}
