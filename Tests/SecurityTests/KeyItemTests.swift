// SPDX-License-Identifier: Apache-2.0
import Foundation
import Security
import Testing

extension CertificateItems {
    @Suite(.serialized) struct KeyItems {
        private let key = Fixture.key(Fixture.leafKey, kSecAttrKeyTypeEC)!

        init() {
            for itemClass in ["cert", "keys"] {
                _ = delete(["class": itemClass, "sync": "syna", "agrp": "first.group"])
            }
        }

        /// The attributes of an item that was added for a key (docs/secitem.md, kSecClassKey).
        @Test(
            arguments: [
                //        private, public
                ("kcls", 1, 0), ("perm", 1, 1), ("priv", 1, 1), ("modi", 1, 1), ("sens", 0, 0),
                ("asen", 0, 0), ("extr", 1, 1), ("next", 0, 0), ("drve", 1, 1), ("snrc", 0, 0),
                ("vyrc", 0, 0), ("encr", 0, 1), ("decr", 1, 0), ("sign", 1, 0), ("vrfy", 0, 1),
                ("wrap", 0, 1), ("unwp", 1, 0), ("type", 73, 73), ("bsiz", 256, 256),
                ("esiz", 256, 256), ("crtr", 0, 0),
            ])
        func `a key says what its item is`(
            _ name: String, _ ofPrivate: Int, _ ofPublic: Int
        ) throws {
            for (key, expected) in [(key, ofPrivate), (SecKeyCopyPublicKey(key)!, ofPublic)] {
                #expect(add(["v_Ref": key]) == errSecSuccess)
                let query: [String: Any] = ["v_Ref": key, "r_Attributes": true]
                let found = try #require(copyMatching(query).result as? [String: Any])
                #expect(found[name] as? Int == expected)
            }
        }

        @Test func `a key is found by itself, whatever became of its uses`() throws {
            #expect(add(["v_Ref": key, "sign": 0, "atag": "tag"]) == errSecSuccess)
            let query: [String: Any] = ["v_Ref": key, "r_Attributes": true]
            let found = try #require(copyMatching(query).result as? [String: Any])
            #expect(found["sign"] as? Int == 0 && found["atag"] as? String == "tag")
            #expect(update(["v_Ref": key], ["decr": false, "perm": 0]) == errSecSuccess)
            #expect(copyMatching(["v_Ref": key, "atag": "tag"]).status == errSecSuccess)
            #expect(copyMatching(["v_Ref": key, "atag": "other"]).status == errSecItemNotFound)
            #expect(
                copyMatching(["class": "keys", "agrp": "first.group", "r_Ref": true]).result
                    as? SecKey == key)
            #expect(delete(["v_Ref": SecKeyCopyPublicKey(key)!]) == errSecItemNotFound)
            #expect(delete(["v_Ref": key]) == errSecSuccess)
        }

        @Test func `two tags are two items of one key`() throws {
            #expect(add(["v_Ref": key, "atag": "a"]) == errSecSuccess)
            #expect(add(["v_Ref": key, "atag": "b"]) == errSecSuccess)
            #expect(add(["v_Ref": key, "atag": Data("b".utf8)]) == errSecDuplicateItem)
            let all: [String: Any] = [
                "class": "keys", "agrp": "first.group", "m_Limit": "m_LimitAll", "r_Ref": true,
            ]
            #expect(copyMatching(all).result as? [SecKey] == [key, key])
            #expect(
                update(["class": "keys", "agrp": "first.group", "atag": "a"], ["atag": "b"])
                    == errSecDuplicateItem)
        }

        @Test func `a symmetric key is kept as data`() throws {
            let item: [String: Any] = [
                "class": "keys", "kcls": kSecAttrKeyClassSymmetric, "atag": "aes",
                "v_Data": Data(repeating: 7, count: 32),
            ]
            #expect(add(item) == errSecSuccess)
            let query: [String: Any] = ["class": "keys", "agrp": "first.group", "kcls": "2"]
            #expect((copyMatching(query.with(["r_Data": true])).result as? Data)?.count == 32)
            let object = copyMatching(query.with(["r_Ref": true]))
            #expect(object.status == errSecSuccess && object.result == nil)
        }

        @Test func `permanent keys are kept`() throws {
            let tag = Data("permanent".utf8)
            let parameters: [CFString: Any] = [
                kSecAttrKeyType: kSecAttrKeyTypeECSECPrimeRandom, kSecAttrKeySizeInBits: 256,
                kSecAttrLabel: "both",
                kSecPrivateKeyAttrs: [kSecAttrIsPermanent: true, kSecAttrApplicationTag: tag],
                kSecPublicKeyAttrs: [
                    kSecAttrIsPermanent: true, kSecAttrApplicationTag: tag, kSecAttrLabel: "public",
                ],
            ]
            let key = try #require(SecKeyCreateRandomKey(parameters as CFDictionary, nil))
            let query: [String: Any] = ["class": "keys", "atag": tag, "r_Ref": true]
            #expect(copyMatching(query.with(["kcls": "1"])).result as? SecKey == key)
            let found = copyMatching(query.with(["kcls": "0"])).result as? SecKey
            #expect(found == SecKeyCopyPublicKey(key))
            let all = query.with(["r_Ref": false, "r_Attributes": true, "m_Limit": "m_LimitAll"])
            let labels = (copyMatching(all).result as? [[String: Any]] ?? []).map {
                $0["labl"] as? String
            }
            #expect(Set(labels) == ["both", "public"])
            #expect(delete(["v_Ref": key]) == errSecSuccess)
            #expect(copyMatching(query.with(["kcls": "1"])).status == errSecItemNotFound)
            #expect(copyMatching(query.with(["kcls": "0"])).status == errSecSuccess)
        }
    }
}
