// SPDX-License-Identifier: Apache-2.0
internal import KeychainSecrets
internal import LibCrypto
internal import Testing

/// The prime of the second Oakley group (RFC 2409, 6.2).
private let prime: [UInt8] = {
    let digits =
        "FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74"
        + "020BBEA63B139B22514A08798E3404DDEF9519B3CD3A431B302B0A6DF25F1437"
        + "4FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED"
        + "EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE65381FFFFFFFFFFFFFFFF"
    return bytes(digits)
}()

private func bytes(_ digits: String) -> [UInt8] {
    let values = digits.compactMap(\.hexDigitValue)
    return stride(from: 0, to: values.count, by: 2).map {
        UInt8(values[$0] << 4 | values[$0 + 1])
    }
}

/// The prime with its last byte less by so much.
private func prime(less: UInt8) -> [UInt8] { prime.dropLast() + [prime.last! - less] }

@Suite struct KeyExchangeTests {
    @Test func `both sides come to the same value`() throws {
        let one = try KeyExchange()
        let other = try KeyExchange()
        let (first, second) = (one.publicValue, other.publicValue)
        #expect(first.count == 128 && second.count == 128 && first != second)
        let shared = try one.shared(with: second)
        let isSame = try shared.matches(other.shared(with: first))
        #expect(isSame && shared.count == 128)
    }

    private static let refused: [[UInt8]] = [
        [], [0], [1], [UInt8](repeating: 0, count: 128),
        [UInt8](repeating: 0, count: 127) + [1],
        prime(less: 1), prime,
        [UInt8](repeating: 0xFF, count: 128),
        [1] + [UInt8](repeating: 0, count: 128),
    ]
    private static let taken: [[UInt8]] = [
        [2], [UInt8](repeating: 0, count: 300) + [2], prime(less: 2),
    ]

    @Test(arguments: refused)
    func `a value that makes the key known is refused`(value: [UInt8]) {
        #expect(throws: LibCryptoError.refused) {
            _ = try KeyExchange().shared(with: value).count
        }
    }

    @Test(arguments: taken)
    func `the least and the greatest value are taken`(value: [UInt8]) throws {
        let count = try KeyExchange().shared(with: value).count
        #expect(count == 128)
    }

    @Test func `a value shorter than the prime stands for the same number`() throws {
        let exchange = try KeyExchange()
        let own = exchange.publicValue
        // 2 to the power of the exponent is the public value itself.
        let shared = try exchange.shared(with: [2]).releasedFromLockedMemory()
        #expect(shared == own)
    }
}

@Suite struct TransferCipherTests {
    private let key = HeldSecret(SecretBytes(copying: Array(0..<16)))

    @Test func `the key is that of RFC 5869's third case`() {
        let shared = SecretBytes(copying: [UInt8](repeating: 0x0B, count: 22))
        let expected = bytes("8da4e775a563c18f715f802a063c5a31")
        let key = TransferCipher.key(from: shared).releasedFromLockedMemory()
        #expect(key == expected)
    }

    @Test(arguments: [0, 1, 15, 16, 17, 4096])
    func `what was encrypted comes back`(count: Int) throws {
        let plain = SecretBytes(random: count)
        let sealed = try TransferCipher.encrypt(plain, key: key.bytes)
        #expect(sealed.initial.count == 16 && sealed.bytes.count == count / 16 * 16 + 16)
        let opened = try TransferCipher.decrypt(
            SecretBytes(copying: sealed.bytes), initial: sealed.initial, key: key.bytes)
        let isSame = opened.matches(plain)
        #expect(isSame)
    }

    @Test func `a known text is encrypted as others do it`() throws {
        // NIST SP 800-38A, F.2.2, the first block; what follows it is the padding's own block.
        let key = SecretBytes(copying: bytes("2b7e151628aed2a6abf7158809cf4f3c"))
        let sealed = bytes("7649abac8119b246cee98e9b12e9197d8964e0b149c10b7b682e6e39aaeb731c")
        let opened = try TransferCipher.decrypt(
            SecretBytes(copying: sealed), initial: bytes("000102030405060708090a0b0c0d0e0f"),
            key: key)
        let text = opened.releasedFromLockedMemory()
        #expect(text == bytes("6bc1bee22e409f96e93d7e117393172a"))
    }

    @Test(arguments: [0, 1, 15, 17])
    func `a length that no encryption gives is refused`(count: Int) {
        #expect(throws: LibCryptoError.refused) {
            _ = try TransferCipher.decrypt(
                SecretBytes(random: count), initial: [UInt8](repeating: 0, count: 16),
                key: key.bytes
            ).count
        }
    }

    @Test(arguments: [0, 15, 17])
    func `a beginning of another length is refused`(count: Int) {
        #expect(throws: LibCryptoError.refused) {
            _ = try TransferCipher.decrypt(
                SecretBytes(random: 16), initial: [UInt8](repeating: 0, count: count),
                key: key.bytes
            ).count
        }
    }

    @Test func `padding that is none is refused`() throws {
        // A block of zeros under its own key ends with no count of padding.
        let sealed = try TransferCipher.encrypt(
            SecretBytes(copying: [UInt8](repeating: 0, count: 16)), key: key.bytes)
        #expect(throws: LibCryptoError.refused) {
            _ = try TransferCipher.decrypt(
                SecretBytes(copying: Array(sealed.bytes.prefix(16))), initial: sealed.initial,
                key: key.bytes
            ).count
        }
    }
}
