// SPDX-License-Identifier: Apache-2.0
import Foundation
import Security
import Testing

/// Items of the class certificate. The keychain is one for all tests, so that those which look at
/// everything in it run one after the other.
@Suite(.serialized) struct CertificateItems {
    private let certificate = Fixture.certificate(Fixture.leaf)!

    /// A keychain without certificates.
    init() {
        for itemClass in ["cert", "keys"] {
            _ = delete(["class": itemClass, "sync": "syna", "agrp": "first.group"])
        }
    }

    private func keep(_ der: Data, _ more: [String: Any] = [:]) throws {
        let certificate = try #require(Fixture.certificate(der))
        let item: [String: Any] = ["v_Ref": certificate]
        #expect(add(item.with(more)) == errSecSuccess)
    }

    private func labels(_ query: [String: Any]) -> [String] {
        let all: [String: Any] = [
            "class": "cert", "agrp": "first.group", "r_Attributes": true, "m_Limit": "m_LimitAll",
        ]
        let found = copyMatching(all.with(query)).result as? [[String: Any]] ?? []
        return found.compactMap { $0["labl"] as? String }.sorted()
    }

    @Test func `a certificate says what its item is called`() throws {
        var result: CFTypeRef?
        let item: [String: Any] = ["v_Ref": certificate, "r_Attributes": true]
        #expect(SecItemAdd(item as CFDictionary, &result) == errSecSuccess)
        let attributes = try #require(result as? [String: Any])
        #expect(attributes["labl"] as? String == "Zoë Example")
        #expect(attributes["ctyp"] as? Int == 3 && attributes["cenc"] as? Int == 3)
        #expect(attributes["slnr"] as? Data == Data([0x12, 0x34]))
        #expect((attributes["skid"] as? Data)?.count == 20)
        #expect((attributes["pkhh"] as? Data)?.count == 20)
        #expect(attributes["pdmn"] as? String == "dk")
        let issuer = SecCertificateCopyNormalizedIssuerSequence(certificate) as Data?
        #expect(attributes["issr"] as? Data == issuer?.dropFirst(2))
        #expect(add(["v_Ref": certificate]) == errSecDuplicateItem)
        let own = ["v_Ref": certificate, "labl": "mine", "sync": true] as [String: Any]
        #expect(add(own) == errSecSuccess)
        #expect(labels(["sync": true]) == ["mine"])
    }

    @Test func `a certificate comes back as an object, data or both`() throws {
        try keep(Fixture.leaf)
        let query: [String: Any] = ["class": "cert", "labl": "Zoë Example"]
        #expect(copyMatching(query.with(["r_Ref": true])).result as? SecCertificate == certificate)
        #expect(copyMatching(query.with(["r_Data": true])).result as? Data == Fixture.leaf)
        let both = query.with(["r_Ref": true, "r_Data": true, "r_PersistentRef": true])
        let found = try #require(copyMatching(both).result as? [String: Any])
        #expect(found["v_Ref"] as? SecCertificate == certificate)
        #expect(found["v_Data"] as? Data == Fixture.leaf && found["class"] as? String == "cert")
        let reference = try #require(found["v_PersistentRef"] as? Data)
        #expect(reference.prefix(4) == Data("cert".utf8))
        let named: [String: Any] = ["v_PersistentRef": reference, "r_Ref": true]
        #expect(copyMatching(named).result as? SecCertificate == certificate)
        let all = query.with(["r_Data": true, "m_Limit": "m_LimitAll"])
        #expect(copyMatching(all).result as? [Data] == [Fixture.leaf])
    }

    @Test func `a certificate finds its item, whatever it is called`() throws {
        try keep(Fixture.leaf)
        try keep(Fixture.root)
        #expect(update(["v_Ref": certificate], ["labl": "renamed"]) == errSecSuccess)
        #expect(labels(["v_Ref": certificate]) == ["renamed"])
        #expect(delete(["v_Ref": certificate]) == errSecSuccess)
        #expect(delete(["v_Ref": certificate]) == errSecItemNotFound)
        #expect(labels([:]) == ["Example Root"])
    }

    @Test func `an issuer is found by its name as certificates write it`() throws {
        for der in [Fixture.root, Fixture.intermediate, Fixture.leaf] { try keep(der) }
        let sequence = SecCertificateCopyNormalizedIssuerSequence(certificate)! as Data
        #expect(labels(["issr": sequence]) == ["Zoë Example"])
        #expect(labels(["issr": sequence.dropFirst(2)]) == ["Zoë Example"])
        #expect(labels(["slnr": Data([0, 0x80])]) == ["Example Intermediate"])
    }

    @Test func `issuers are looked for up to the top`() throws {
        for der in [Fixture.root, Fixture.intermediate, Fixture.leaf, Fixture.expired] {
            try keep(der)
        }
        let root = try #require(Fixture.certificate(Fixture.root))
        let name = try #require(SecCertificateCopyNormalizedSubjectSequence(root) as Data?)
        let all = ["Archive", "Example Intermediate", "Example Root", "Zoë Example"]
        #expect(labels(["m_Issuers": [name]]) == all)
        #expect(labels(["m_Issuers": [1, Data([1])]]) == [])
        #expect(labels(["m_Issuers": [Any]()]) == all)
        let leaf = try #require(SecCertificateCopyNormalizedSubjectSequence(certificate) as Data?)
        #expect(labels(["m_Issuers": [leaf]]) == [])
        let nearest = try #require(
            SecCertificateCopyNormalizedIssuerSequence(certificate) as Data?)
        #expect(labels(["m_Issuers": [nearest]]) == ["Zoë Example"])
    }

    @Test(
        arguments: [
            (["m_SubjectContains": "example"], []),
            (
                ["m_SubjectContains": "Example"],
                ["Example Intermediate", "Example Root", "Zoë Example"]
            ),
            (["m_SubjectStartsWith": "Example"], ["Example Intermediate", "Example Root"]),
            (["m_SubjectEndsWith": "Example"], ["Zoë Example"]),
            (["m_SubjectWholeString": "Zoë Example"], ["Zoë Example"]),
            (["m_SubjectWholeString": "zoe example"], []),
            (
                [
                    "m_SubjectWholeString": "zoe example", "m_CaseInsensitive": true,
                    "m_DiacriticInsensitive": true,
                ], ["Zoë Example"]
            ),
            (["m_SubjectStartsWith": "ZOË", "m_CaseInsensitive": true], ["Zoë Example"]),
            (["m_EmailAddressIfPresent": "ZOE@example.org"], ["Zoë Example"]),
            (["m_EmailAddressIfPresent": "joe@example.org"], []),
            (["m_ValidOnDate": Date(timeIntervalSince1970: 1_000_000_000)], ["Archive"]),
            (
                ["m_ValidOnDate": Date(timeIntervalSince1970: 1_600_000_000)],
                ["Ed", "Example Intermediate", "Example Root"]
            ),
            (["m_ValidOnDate": Date.distantFuture], []),
        ] as [([String: any Sendable], [String])])
    func `certificates are found by what is in them`(
        _ match: [String: any Sendable], _ expected: [String]
    ) throws {
        try keep(Fixture.ed25519, ["labl": "Ed"])
        for der in [Fixture.root, Fixture.intermediate, Fixture.leaf, Fixture.expired] {
            try keep(der)
        }
        #expect(labels(match) == expected)
    }

    @Test func `a filter does not use the limit up`() throws {
        for der in [Fixture.root, Fixture.intermediate, Fixture.leaf] { try keep(der) }
        let one: [String: Any] = [
            "class": "cert", "m_SubjectContains": "Zoë", "m_Limit": "m_LimitOne", "r_Ref": true,
        ]
        #expect(copyMatching(one).result as? SecCertificate == certificate)
        let listed: [String: Any] = [
            "class": "cert", "m_ItemList": [certificate], "m_Limit": "m_LimitAll",
            "r_Data": true,
        ]
        #expect(copyMatching(listed).result as? [Data] == [Fixture.leaf])
    }

    @Test func `an item of other bytes is kept, and is no certificate`() throws {
        let item: [String: Any] = ["class": "cert", "v_Data": Data([1]), "labl": "bytes"]
        #expect(add(item) == errSecSuccess)
        let query: [String: Any] = ["class": "cert", "labl": "bytes"]
        #expect(copyMatching(query.with(["r_Data": true])).result as? Data == Data([1]))
        let reference = copyMatching(query.with(["r_Ref": true]))
        #expect(reference.status == errSecSuccess && reference.result == nil)
        #expect(labels(["m_SubjectContains": ""]) == [])
    }
}
