// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import KeychainSecrets

@Suite struct SealingKeyTests {
    private let context: [UInt8] = [1, 2, 3]

    private func hex(_ text: String) -> [UInt8] {
        let digits = Array(text)
        return stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(digits[$0...$0 + 1]), radix: 16)
        }
    }

    @Test(arguments: [0, 1, 32, 5000])
    func `what was sealed opens with the same key and context`(_ count: Int) throws {
        let key = SealingKey.random()
        let plain = SecretBytes(copying: (0..<count).map { UInt8(truncatingIfNeeded: $0) })
        let sealed = key.seal(plain, context: context)
        #expect(sealed.count == count + SealingKey.overhead)
        let opened = try key.open(sealed, context: context)
        #expect(opened.releasedFromLockedMemory() == plain.releasedFromLockedMemory())
    }

    @Test(arguments: [[], [7, 8, 9] as [UInt8]])
    func `what was sealed for memory stands behind its head and opens`(_ head: [UInt8]) throws {
        let key = SealingKey.random()
        let plain = SecretBytes(random: 64)
        let sealed = plain.withBytes {
            key.sealForMemory($0, context: context, behind: head).releasedFromLockedMemory()
        }
        #expect(Array(sealed.prefix(head.count)) == head)
        let opened = try key.open(Array(sealed.dropFirst(head.count)), context: context)
        #expect(opened.releasedFromLockedMemory() == plain.releasedFromLockedMemory())
    }

    @Test func `the cipher is XChaCha20-Poly1305 as its draft has it`() throws {
        // draft-irtf-cfrg-xchacha-03, A.3.1.
        let key = SealingKey(
            SecretBytes(
                copying: hex("808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f")))
        let nonce = hex("404142434445464748494a4b4c4d4e4f5051525354555657")
        let ciphertext = hex(
            """
            bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb\
            731c7f1b0b4aa6440bf3a82f4eda7e39ae64c6708c54c216cb96b72e1213b452\
            2f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff9\
            21f9664c97637da9768812f615c68b13b52e
            """)
        let tag = hex("c0875924c1c7987947deafd8780acf49")
        let plain = try key.open(
            nonce + ciphertext + tag, context: hex("50515253c0c1c2c3c4c5c6c7"))
        #expect(
            String(decoding: plain.releasedFromLockedMemory(), as: UTF8.self)
                == "Ladies and Gentlemen of the class of '99: If I could offer you only one tip "
                + "for the future, sunscreen would be it.")
    }

    @Test func `any flipped bit, another key or another context opens nothing`() throws {
        let key = SealingKey.random()
        let sealed = key.seal(SecretBytes(copying: [7, 7, 7]), context: context)
        for position in sealed.indices {
            for bit in 0..<8 {
                var changed = sealed
                changed[position] ^= 1 << bit
                #expect(throws: SecretsError.notAuthentic) {
                    _ = try key.open(changed, context: context)
                }
            }
        }
        #expect(throws: SecretsError.notAuthentic) {
            _ = try SealingKey.random().open(sealed, context: context)
        }
        for other in [[], [1, 2], [1, 2, 3, 0], [1, 2, 4]] as [[UInt8]] {
            #expect(throws: SecretsError.notAuthentic) {
                _ = try key.open(sealed, context: other)
            }
        }
    }

    @Test func `bytes too short to be sealed are not authentic`() {
        let key = SealingKey.random()
        for count in 0..<SealingKey.overhead {
            #expect(throws: SecretsError.notAuthentic) {
                _ = try key.open([UInt8](repeating: 0, count: count), context: [])
            }
        }
    }

    @Test func `sealing the same twice gives nothing in common`() {
        let key = SealingKey.random()
        let plain = SecretBytes(copying: [UInt8](repeating: 1, count: 64))
        let first = key.seal(plain, context: [])
        let second = key.seal(plain, context: [])
        #expect(first.prefix(24) != second.prefix(24))
        #expect(first.suffix(80) != second.suffix(80))
    }

    @Test func `derived keys are the same for one purpose and different for two`() {
        let key = SealingKey.random()
        func bytes(_ key: borrowing SealingKey) -> [UInt8] {
            key.bytes.releasedFromLockedMemory()
        }
        let first = bytes(key.derived(for: "a"))
        #expect(first == bytes(key.derived(for: "a")))
        #expect(first != bytes(key.derived(for: "b")))
        #expect(first != bytes(key))
        #expect(first != bytes(SealingKey.random().derived(for: "a")))
    }
}
