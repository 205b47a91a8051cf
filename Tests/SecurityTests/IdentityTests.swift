// SPDX-License-Identifier: Apache-2.0
import Foundation
import Security
import Testing

extension CertificateItems {
    @Suite(.serialized) struct Identities {
        private let identity = Fixture.identity!

        init() {
            for itemClass in ["cert", "keys"] {
                _ = delete(["class": itemClass, "sync": "syna", "agrp": "first.group"])
            }
        }

        private let query: [String: Any] = ["class": "idnt", "agrp": "first.group"]
        private func count(_ itemClass: String) -> Int {
            let all: [String: Any] = [
                "class": itemClass, "agrp": "first.group", "m_Limit": "m_LimitAll",
                "r_PersistentRef": true,
            ]
            return (copyMatching(all).result as? [Any])?.count ?? 0
        }

        @Test func `is a certificate with its key`() throws {
            var certificate: SecCertificate?
            #expect(SecIdentityCopyCertificate(identity, &certificate) == errSecSuccess)
            var key: SecKey?
            #expect(SecIdentityCopyPrivateKey(identity, &key) == errSecSuccess)
            #expect(certificate == Fixture.certificate(Fixture.leaf))
            #expect(key == Fixture.key(Fixture.leafKey, kSecAttrKeyTypeEC))
            #expect(CFGetTypeID(identity) == SecIdentityGetTypeID())
            #expect(CFGetTypeID(key) == SecKeyGetTypeID())
        }

        @Test func `is added as two items and found as one`() throws {
            #expect(add(["v_Ref": identity]) == errSecSuccess)
            #expect(count("cert") == 1 && count("keys") == 1 && count("idnt") == 1)
            #expect(copyMatching(query.with(["r_Ref": true])).result as? SecIdentity == identity)
            #expect(
                copyMatching(query.with(["r_Data": true])).result as? Data == Fixture.leafKey)
            let all = query.with(["r_Ref": true, "r_PersistentRef": true, "r_Attributes": true])
            let found = try #require(copyMatching(all).result as? [String: Any])
            #expect(found["class"] as? String == "idnt" && found["v_Data"] == nil)
            #expect(found["labl"] as? String == "Zoë Example" && found["priv"] as? Int == 1)
            #expect(found["klbl"] as? Data == found["pkhh"] as? Data)
            let reference = try #require(found["v_PersistentRef"] as? Data)
            #expect(reference.count == 20 && reference.prefix(4) == Data("idnt".utf8))
            let named: [String: Any] = ["v_PersistentRef": reference, "r_Ref": true]
            #expect(copyMatching(named).result as? SecIdentity == identity)
            #expect(update(["v_PersistentRef": reference], ["labl": "x"]) == errSecInternal)
            #expect(delete(["v_PersistentRef": reference]) == errSecSuccess)
            #expect(count("cert") == 0 && count("keys") == 0)
        }

        @Test func `is a duplicate where both halves are there`() throws {
            #expect(add(["v_Ref": Fixture.certificate(Fixture.leaf)!]) == errSecSuccess)
            var result: CFTypeRef?
            let item: [String: Any] = ["v_Ref": identity, "r_PersistentRef": true]
            #expect(SecItemAdd(item as CFDictionary, &result) == errSecSuccess)
            #expect((result as? Data)?.prefix(4) == Data("idnt".utf8))
            #expect(add(["v_Ref": identity]) == errSecDuplicateItem)
        }

        @Test func `is returned as it was added, and not as another one like it`() throws {
            let certificate = try #require(Fixture.certificate(Fixture.leaf))
            let key = try #require(Fixture.key(Fixture.leafKey, kSecAttrKeyTypeEC))
            defer { _ = delete(["v_Ref": certificate, "agrp": "second.group"]) }
            #expect(add(["v_Ref": identity]) == errSecSuccess)
            let item: [String: Any] = [
                "v_Ref": identity, "agrp": "second.group", "r_Attributes": true, "r_Ref": true,
            ]
            for _ in 1...2 {
                var result: CFTypeRef?
                #expect(SecItemAdd(item as CFDictionary, &result) == errSecSuccess)
                let found = try #require(result as? [String: Any])
                #expect(found["agrp"] as? String == "second.group")
                #expect(found["v_Ref"] as? SecIdentity == identity)
                // The certificate is there the second time.
                #expect(delete(["v_Ref": key, "agrp": "second.group"]) == errSecSuccess)
            }
        }

        @Test func `has its label from the certificate and its tag from the key`() throws {
            let more: [String: Any] = ["v_Ref": identity, "atag": "mine", "labl": "both"]
            #expect(add(more) == errSecSuccess)
            #expect(copyMatching(query.with(["labl": "both", "atag": "mine"])).status == 0)
            #expect(update(["class": "keys", "atag": "mine"], ["labl": "key"]) == errSecSuccess)
            #expect(copyMatching(query.with(["labl": "both"])).status == errSecSuccess)
            #expect(copyMatching(query.with(["labl": "key"])).status == errSecItemNotFound)
            #expect(copyMatching(query.with(["atag": "other"])).status == errSecItemNotFound)
        }

        @Test func `is changed in both halves`() throws {
            #expect(add(["v_Ref": identity]) == errSecSuccess)
            #expect(update(query, ["labl": "new"]) == errSecSuccess)
            #expect(update(query, ["atag": "new"]) == errSecNoSuchAttr)
            #expect(update(query, ["slnr": Data()]) == errSecNoSuchAttr)
            for itemClass in ["cert", "keys", "idnt"] {
                let renamed: [String: Any] = ["class": itemClass, "labl": "new"]
                #expect(copyMatching(renamed).status == errSecSuccess)
            }
        }

        @Test func `leaves its key where another certificate needs it`() throws {
            #expect(add(["v_Ref": identity]) == errSecSuccess)
            let certificate = try #require(Fixture.certificate(Fixture.leaf))
            let copy: [String: Any] = ["v_Ref": certificate, "slnr": Data([9])]
            #expect(add(copy) == errSecSuccess)
            #expect(delete(["v_Ref": identity]) == errSecSuccess)
            #expect(count("cert") == 1 && count("keys") == 1)
            #expect(delete(query) == errSecSuccess)
            #expect(count("cert") == 0 && count("keys") == 0)
            #expect(delete(query) == errSecItemNotFound)
        }

        @Test func `is none without its key`() throws {
            #expect(add(["v_Ref": Fixture.certificate(Fixture.leaf)!]) == errSecSuccess)
            #expect(copyMatching(query).status == errSecItemNotFound)
            let other = try #require(Fixture.key(Fixture.rsaKey, kSecAttrKeyTypeRSA))
            #expect(add(["v_Ref": other]) == errSecSuccess)
            #expect(copyMatching(query).status == errSecItemNotFound)
            #expect(count("idnt") == 0)
        }

        @Test func `all of them are found, up to a limit`() throws {
            let second = SecIdentityCreate(
                nil, Fixture.certificate(Fixture.expired)!,
                Fixture.key(Fixture.rsaKey, kSecAttrKeyTypeRSA)!)!
            for identity in [identity, second] { #expect(add(["v_Ref": identity]) == 0) }
            let all = query.with(["r_Ref": true, "m_Limit": "m_LimitAll"])
            let found = copyMatching(all).result as? [SecIdentity] ?? []
            #expect(Set(found) == [identity, second])
            let one = copyMatching(all.with(["m_Limit": 2, "m_ValidOnDate": NSNull()])).result
            #expect(one as? [SecIdentity] == [identity])
            #expect(copyMatching(all.with(["m_Limit": 0])).status == errSecItemNotFound)
            let listed = copyMatching(all.with(["m_ItemList": [second]])).result
            #expect(listed as? [SecIdentity] == [second])
        }
    }
}
