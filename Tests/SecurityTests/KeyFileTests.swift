// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import KeychainCertificates
import KeychainSecrets
import Testing

private func held(_ bytes: some Sequence<UInt8>) -> HeldSecret {
    HeldSecret(SecretBytes(copying: Array(bytes)))
}

@Suite struct KeyFileTests {
    private static func blocks(_ text: String) -> [PEMBlocks.Block]? {
        PEMBlocks.of(SecretBytes(copying: Array(text.utf8)))
    }

    private func point(_ pem: String) throws -> [UInt8] {
        let last = try #require(Self.blocks(pem)?.last)
        let key = try #require(KeyFile.privateKey(last.der))
        return key.publicBytes
    }

    @Test func `a key of a curve is read from PKCS 8`() throws {
        let p256 = P256.Signing.PrivateKey()
        #expect(try point(p256.pemRepresentation) == Array(p256.publicKey.x963Representation))
        let p521 = P521.Signing.PrivateKey()
        #expect(try point(p521.pemRepresentation) == Array(p521.publicKey.x963Representation))
    }

    @Test func `a key of a curve without its point gets it`() throws {
        let key = P256.Signing.PrivateKey()
        let number = Array(key.rawRepresentation)
        let start = [0x02, 0x01, 0x01, 0x04, 0x20] + number
        let name: [UInt8] = [0xA0, 0x0A, 6, 8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 1, 7]
        let read = try #require(KeyFile.privateKey(held([0x30, 0x31] + start + name)))
        #expect(read.publicBytes == Array(key.publicKey.x963Representation))
        // Another curve's number is as long (secp256k1), and without a name it might be of that.
        let another: [UInt8] = [0xA0, 0x07, 6, 5, 0x2B, 0x81, 4, 0, 0x0A]
        #expect(KeyFile.privateKey(held([0x30, 0x2E] + start + another)) == nil)
        #expect(KeyFile.privateKey(held([0x30, 0x25] + start)) == nil)
        let other = Array(P256.Signing.PrivateKey().publicKey.x963Representation)
        let bits = [0xA1, 0x44, 0x03, 0x42, 0x00] + other
        let lying = [0x30, 0x6B, 0x02, 0x01, 0x01, 0x04, 0x20] + number + bits
        #expect(KeyFile.privateKey(held(lying)) == nil)
    }

    @Test func `a public key is read`() throws {
        let key = P384.Signing.PrivateKey().publicKey
        let read = try #require(KeyFile.publicKey(held(key.derRepresentation)))
        #expect(read.publicBytes == Array(key.x963Representation))
        #expect(!read.isPrivate)
    }

    @Test func `a key that is cut or changed is no key or another form of it`() throws {
        let whole = Array(P256.Signing.PrivateKey().derRepresentation)
        for length in whole.indices {
            #expect(KeyFile.privateKey(held(whole.prefix(length))) == nil)
        }
        for place in whole.indices {
            for value in [0, 0x30, 0x7F, 0x80, 0x84, 0xFF] as [UInt8] {
                var changed = whole
                changed[place] = value
                _ = KeyFile.privateKey(held(changed))
                _ = KeyFile.publicKey(held(changed))
            }
        }
    }

    @Test func `blocks are found among other words`() throws {
        let text = """
            Bag Attributes
            -----BEGIN CERTIFICATE-----
            AQID
            -----END CERTIFICATE-----
            words
            -----BEGIN PRIVATE KEY-----
            BA==
            -----END PRIVATE KEY-----
            """
        let blocks = try #require(Self.blocks(text))
        #expect(blocks.map(\.label) == ["CERTIFICATE", "PRIVATE KEY"])
        #expect(blocks.map { $0.der.bytes.releasedFromLockedMemory() } == [[1, 2, 3], [4]])
    }

    @Test(
        arguments: [
            "-----BEGIN X-----\nAQID", "-----BEGIN X-----\nA*==\n-----END X-----",
            "-----BEGIN X", "-----BEGIN X-----\nAQ==AQ\n-----END X-----",
        ])
    func `a block that does not end or is no base64 spoils the file`(_ text: String) {
        #expect(Self.blocks(text) == nil)
    }

    @Test func `a block with headers is an encrypted key`() throws {
        let text = "-----BEGIN X-----\nProc-Type: 4,ENCRYPTED\n\nAQID\n-----END X-----\n"
        let blocks = try #require(Self.blocks(text))
        #expect(blocks.map(\.hasHeaders) == [true])
    }
}
