// SPDX-License-Identifier: Apache-2.0
import Foundation
import Security
import Testing

@Suite struct Keys {
    @Test(
        arguments: [
            (Fixture.rsaKey, "42", 2048, 256), (Fixture.leafKey, "73", 256, 32),
            (Fixture.ed25519Key, "105", 256, 32),
        ])
    func `come back as they were given`(
        _ data: Data, _ type: String, _ bits: Int, _ block: Int
    ) throws {
        let key = try #require(Fixture.key(data, type as NSString))
        #expect(SecKeyCopyExternalRepresentation(key, nil) as Data? == data)
        #expect(SecKeyGetBlockSize(key) == block)
        let attributes = try #require(SecKeyCopyAttributes(key) as? [String: Any])
        #expect(attributes["bsiz"] as? Int == bits)
        let publicKey = try #require(SecKeyCopyPublicKey(key))
        let publicData = try #require(SecKeyCopyExternalRepresentation(publicKey, nil) as Data?)
        let again = Fixture.key(publicData, type as NSString, kSecAttrKeyClassPublic)
        #expect(again == publicKey && publicKey != key)
        let label = (SecKeyCopyAttributes(publicKey) as? [String: Any])?["klbl"] as? Data
        #expect(label?.count == 20 && label == attributes["klbl"] as? Data)
    }

    @Test(arguments: [
        (Fixture.rsaKey, kSecAttrKeyTypeRSA as String),
        (Fixture.leafKey, kSecAttrKeyTypeECSECPrimeRandom as String),
        (Fixture.ed25519Key, kSecAttrKeyTypeEd25519 as String),
    ])
    func `tell their type and class by the constants, as programs force them to be`(
        _ data: Data, _ type: String
    ) throws {
        let key = try #require(Fixture.key(data, type as NSString))
        let publicKey = try #require(SecKeyCopyPublicKey(key))
        for (half, keyClass) in [
            (key, kSecAttrKeyClassPrivate), (publicKey, kSecAttrKeyClassPublic),
        ] {
            let attributes = try #require(SecKeyCopyAttributes(half)) as NSDictionary
            #expect(attributes[kSecAttrKeyClass] as? String == keyClass as String)
            #expect(attributes[kSecAttrKeyType] as? String == type)
            // Attributes are good for a query, or for making the key again.
            let bytes = try #require(SecKeyCopyExternalRepresentation(half, nil))
            #expect(SecKeyCreateWithData(bytes, attributes, nil) == half)
        }
    }

    @Test func `of RSA are kept as PKCS 1, however they were written`() throws {
        let key = try #require(Fixture.key(Fixture.rsaKeyPKCS8, kSecAttrKeyTypeRSA))
        #expect(SecKeyCopyExternalRepresentation(key, nil) as Data? == Fixture.rsaKey)
    }

    @Test func `belong to their certificates`() throws {
        for (der, data, type) in [
            (Fixture.leaf, Fixture.leafKey, "73"), (Fixture.expired, Fixture.rsaKey, "42"),
            (Fixture.ed25519, Fixture.ed25519Key, "105"),
        ] {
            let certificate = try #require(Fixture.certificate(der))
            let key = try #require(Fixture.key(data, type as NSString))
            #expect(SecCertificateCopyKey(certificate) == SecKeyCopyPublicKey(key))
            #expect(SecIdentityCreate(nil, certificate, key) != nil)
        }
        let other = try #require(Fixture.key(Fixture.rsaKey, kSecAttrKeyTypeRSA))
        let leaf = try #require(Fixture.certificate(Fixture.leaf))
        #expect(SecIdentityCreate(nil, leaf, other) == nil)
    }

    @Test(
        arguments: [
            ("73", 256, 65, 97), ("73", 384, 97, 145), ("73", 521, 133, 199),
            ("105", 256, 32, 32), ("106", 256, 32, 32),
        ])
    func `are made of every curve`(
        _ type: String, _ bits: Int, _ publicBytes: Int, _ privateBytes: Int
    ) throws {
        let parameters: [CFString: Any] = [
            kSecAttrKeyType: type, kSecAttrKeySizeInBits: bits,
        ]
        let key = try #require(SecKeyCreateRandomKey(parameters as CFDictionary, nil))
        let other = try #require(SecKeyCreateRandomKey(parameters as CFDictionary, nil))
        let data = try #require(SecKeyCopyExternalRepresentation(key, nil) as Data?)
        #expect(data.count == privateBytes && key != other)
        #expect(Fixture.key(data, type as NSString) == key)
        let publicKey = try #require(SecKeyCopyPublicKey(key))
        #expect(SecKeyCopyExternalRepresentation(publicKey, nil)?.length == publicBytes)
        #expect(SecKeyCopyPublicKey(publicKey) === publicKey)
    }

    @Test(arguments: [2048, 3072]) func `are made of RSA`(_ bits: Int) throws {
        let parameters: [CFString: Any] = [
            kSecAttrKeyType: kSecAttrKeyTypeRSA, kSecAttrKeySizeInBits: String(bits),
        ]
        let key = try #require(SecKeyCreateRandomKey(parameters as CFDictionary, nil))
        #expect(SecKeyGetBlockSize(key) == bits / 8)
    }

    @Test(
        arguments: [
            ([:], errSecParam), (["type": "42"], errSecParam),
            (["type": "42", "bsiz": 1024], errSecParam),
            (["type": "42", "bsiz": 2049], errSecParam),
            (["type": "42", "bsiz": 1 << 40], errSecParam),
            (["type": "73", "bsiz": 255], errSecParam),
            (["type": "73", "bsiz": Data()], errSecParam),
            (["type": "73", "bsiz": 256, "private": 1], errSecParam),
            (["type": "999", "bsiz": 256], errSecUnimplemented),
            (["type": "73", "bsiz": 256, "tkid": "com.apple.setoken"], errSecUnimplemented),
        ] as [([String: any Sendable], OSStatus)])
    func `are not made of nonsense`(_ parameters: [String: any Sendable], _ status: OSStatus) {
        var error: Unmanaged<CFError>?
        #expect(SecKeyCreateRandomKey(parameters as CFDictionary, &error) == nil)
        let told = error?.takeRetainedValue()
        #expect(told?.code == Int(status) && told?.domain == NSOSStatusErrorDomain)
    }

    @Test(
        arguments: [
            (Data(), "73", "1"), (Fixture.leafKey.dropLast(), "73", "1"),
            (Fixture.leafKey, "42", "1"), (Fixture.leafKey, "73", "0"),
            (Fixture.leafKey, "73", "2"), (Fixture.leafKey, "105", "1"),
            (Data(count: 97), "73", "1"), (Data(count: 65), "73", "0"),
            (Fixture.rsaKey, "42", "0"), (Fixture.leaf, "42", "1"),
        ])
    func `are not read from other bytes`(_ data: Data, _ type: String, _ keyClass: String) {
        #expect(Fixture.key(data, type as NSString, keyClass as NSString) == nil)
    }

    @Test func `whose halves do not belong together are refused`() throws {
        let parameters: [CFString: Any] = [kSecAttrKeyType: "73", kSecAttrKeySizeInBits: 256]
        let other = try #require(SecKeyCreateRandomKey(parameters as CFDictionary, nil))
        let data = try #require(SecKeyCopyExternalRepresentation(other, nil) as Data?)
        let mixed = Fixture.leafKey.prefix(65) + data.suffix(32)
        #expect(Fixture.key(mixed, kSecAttrKeyTypeEC) == nil)
    }
}
