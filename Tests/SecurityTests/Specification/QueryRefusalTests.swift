// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainModel
import Testing

@testable import Security

/// What each of the four calls says to one dictionary (docs/secitem.md, What each call refuses).
struct RefusalRow: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let dictionary: @Sendable () -> [String: Any]
    let add: Refusal?
    let copy: Refusal?
    let update: Refusal?
    let delete: Refusal?

    init(
        _ name: String, _ dictionary: @autoclosure @escaping @Sendable () -> [String: Any],
        _ add: Refusal?, _ copy: Refusal?, _ update: Refusal?, _ delete: Refusal?
    ) {
        testDescription = name
        self.dictionary = dictionary
        self.add = add
        self.copy = copy
        self.update = update
        self.delete = delete
    }

    init(
        _ name: String, _ dictionary: @autoclosure @escaping @Sendable () -> [String: Any],
        all: Refusal?
    ) {
        self.init(name, dictionary(), all, all, all, all)
    }
}

private func refusal(_ read: () throws(Refusal) -> Void) -> Refusal? {
    do { try read() } catch { return error }
    return nil
}

private func genp(_ key: String, _ value: Any) -> [String: Any] { ["class": "genp", key: value] }
private func inet(_ key: String, _ value: Any) -> [String: Any] { ["class": "inet", key: value] }
private func rights(
    _ flags: SecAccessControlCreateFlags, _ protection: String = "ak"
) -> SecAccessControl {
    SecAccessControlCreateWithFlags(nil, protection as NSString, flags, nil)!
}
private let reference = Data("genp".utf8) + Data(repeating: 7, count: 16)
private let certificate = SecCertificateCreateWithData(nil, Fixture.leaf as NSData)!
private let key = Fixture.key(Fixture.leafKey, kSecAttrKeyTypeEC)!
private let identity = SecIdentityCreate(nil, certificate, key)!
private let item = SecKeychainItem(ItemReference(bytes: Array(reference))!, in: "login")

@Suite struct QueryRefusals {
    @Test(
        arguments: [
            //                                                    add, copy, update, delete
            RefusalRow("a class alone", ["class": "genp"], all: nil),
            RefusalRow("no class", ["svce": "x"], all: .badRequest),
            RefusalRow("an empty dictionary", [:], all: .badRequest),
            RefusalRow("an unknown class", ["class": "abcd"], all: .noSuchClass),
            RefusalRow("the class of shared passwords", ["class": "apls"], all: .noSuchClass),
            RefusalRow("a class that is no text", ["class": 5], all: .badRequest),
            RefusalRow("certificates", ["class": "cert"], all: nil),
            RefusalRow("keys", ["class": "keys"], all: nil),
            RefusalRow("identities", ["class": "idnt"], .badRequest, nil, nil, nil),
            RefusalRow("a certificate", ["v_Ref": certificate], all: nil),
            RefusalRow("a key", ["v_Ref": key], all: nil),
            RefusalRow("an identity", ["v_Ref": identity], all: nil),
            RefusalRow(
                "a certificate as a key", ["class": "keys", "v_Ref": certificate],
                all: .noSuchClass),
            RefusalRow(
                "a tag of a certificate", ["class": "cert", "atag": "x"], all: .noSuchAttribute),
            RefusalRow(
                "a comment of a key", ["class": "keys", "icmt": "x"], all: .noSuchAttribute),
            RefusalRow(
                "a tag of an identity", ["class": "idnt", "atag": "x"],
                .badRequest, nil, .noSuchAttribute, .noSuchAttribute),
            RefusalRow(
                "a service of an identity", ["class": "idnt", "svce": "x"],
                all: .noSuchAttribute),
            RefusalRow(
                "all data of certificates",
                ["class": "cert", "r_Data": true, "m_Limit": "m_LimitAll"],
                .badRequest, nil, .badRequest, nil),
            RefusalRow(
                "issuers of a certificate", ["class": "cert", "m_Issuers": [Data()]],
                .badRequest, nil, .badRequest, .badRequest),
            RefusalRow(
                "issuers of a key", ["class": "keys", "m_Issuers": [Data()]],
                .badRequest, .notImplemented, .badRequest, .badRequest),
            RefusalRow(
                "trusted certificates", ["class": "cert", "m_TrustedOnly": true],
                .badRequest, nil, .badRequest, .badRequest),
            RefusalRow(
                "certificates for a purpose",
                ["class": "cert", "m_Policy": SecPolicyCreateBasicX509()],
                .badRequest, nil, .badRequest, .badRequest),
            RefusalRow(
                "identities for a purpose",
                ["class": "idnt", "m_Policy": SecPolicyCreateBasicX509()],
                .badRequest, nil, .badRequest, .badRequest),
            RefusalRow(
                "keys for a purpose", ["class": "keys", "m_Policy": SecPolicyCreateBasicX509()],
                .badRequest, .notImplemented, .badRequest, .badRequest),
            RefusalRow(
                "trust that is no boolean", ["class": "cert", "m_TrustedOnly": 1], all: .badRequest),
            RefusalRow(
                "a date that is none", ["class": "cert", "m_ValidOnDate": 1], all: .badRequest),
            RefusalRow(
                "trusted certificates or not", ["class": "cert", "m_TrustedOnly": false],
                .badRequest, nil, .badRequest, .badRequest),
            RefusalRow(
                "trusted passwords", genp("m_TrustedOnly", true),
                .badRequest, nil, .badRequest, .badRequest),
            RefusalRow(
                "an address that is no text", ["class": "cert", "m_EmailAddressIfPresent": 1],
                all: .badRequest),

            RefusalRow("an unknown attribute", genp("abcd", "x"), all: .noSuchAttribute),
            RefusalRow("a service of a server", inet("svce", "x"), all: .noSuchAttribute),
            RefusalRow("a server of a service", genp("srvr", "x"), all: .noSuchAttribute),
            // A second secret beside the first, which items here have not (docs/decisions.md).
            RefusalRow("extra notes of a server", inet("binn", Data()), all: .noSuchAttribute),
            RefusalRow("an app clip's item", genp("clip", 0), all: .badRequest),
            RefusalRow("a sharing group", genp("ggrp", "x"), all: .notEntitled),
            RefusalRow(
                "a sharing group, synchronised", ["class": "genp", "ggrp": "x", "sync": true],
                all: .badRequest),
            RefusalRow("the data protection keychain", genp("nleg", true), all: nil),
            RefusalRow("synchronised or not", genp("sync", "syna"), all: nil),
            RefusalRow("synchronised how", genp("sync", "x"), all: .badRequest),

            RefusalRow("an unknown letter", genp("xxxxxx", 1), all: .badRequest),
            RefusalRow("a key of one letter", genp("m", 1), all: .badRequest),
            RefusalRow("an empty key", genp("", 1), all: .badRequest),
            RefusalRow("an unknown match key", genp("m_Typo!", 1), all: .badRequest),
            RefusalRow("an unknown return key", genp("r_Typo!", true), all: .badRequest),
            RefusalRow("an unknown use key", genp("u_Typo!", true), all: .badRequest),
            RefusalRow("an unknown value key", genp("v_Typo!", Data()), all: .badRequest),
            RefusalRow("a callback", genp("f_Callback", 1), all: nil),

            RefusalRow(
                "ignoring case", genp("m_CaseInsensitive", true),
                .badRequest, nil, .badRequest, .badRequest),
            RefusalRow(
                "a limit", genp("m_Limit", "m_LimitOne"),
                .badRequest, nil, .badRequest, .badRequest),
            RefusalRow(
                "no limit", genp("m_Limit", "m_LimitAll"),
                .badRequest, nil, .badRequest, nil),
            RefusalRow(
                "no limit, as a number", genp("m_Limit", -1),
                .badRequest, nil, .badRequest, .badRequest),
            RefusalRow(
                "no limit, but a filter",
                ["class": "genp", "m_Limit": "m_LimitAll", "m_CaseInsensitive": true],
                .badRequest, nil, .badRequest, .badRequest),
            RefusalRow(
                "a date", genp("m_ValidOnDate", NSNull()),
                .badRequest, nil, .badRequest, .badRequest),
            RefusalRow("a limit that is true", genp("m_Limit", true), all: .badRequest),
            RefusalRow("a limit in words", genp("m_Limit", "1"), all: .badRequest),
            RefusalRow("a limit below zero", genp("m_Limit", -2), all: .badRequest),
            RefusalRow("half a limit", genp("m_Limit", 1.5), all: .badRequest),
            RefusalRow("case that is no boolean", genp("m_CaseInsensitive", 1), all: .badRequest),
            RefusalRow(
                "issuers of a password", genp("m_Issuers", [Data()]),
                .badRequest, .notImplemented, .badRequest, .badRequest),
            RefusalRow(
                "a host of a service", genp("m_HostOrSubdomainOfHost", "x"),
                .badRequest, .notImplemented, .badRequest, .badRequest),
            RefusalRow(
                "a host", inet("m_HostOrSubdomainOfHost", "x"),
                .badRequest, nil, .badRequest, .badRequest),
            RefusalRow(
                "a host that is no text", inet("m_HostOrSubdomainOfHost", 1), all: .badRequest),
            RefusalRow("a policy that is none", genp("m_Policy", "x"), all: .badRequest),
            RefusalRow("a search list of texts", genp("m_SearchList", ["x"]), all: .badRequest),
            RefusalRow("an item list of texts", genp("m_ItemList", ["x"]), all: .badRequest),
            RefusalRow(
                "an item list", genp("m_ItemList", [reference, item]),
                .badRequest, nil, .badRequest, .badRequest),

            RefusalRow("data wanted", genp("r_Data", true), nil, nil, .badRequest, nil),
            RefusalRow("data not wanted", genp("r_Data", false), all: nil),
            RefusalRow("data wanted by a number", genp("r_Data", 1), all: .badRequest),
            RefusalRow("data wanted in words", genp("r_Data", "true"), all: .badRequest),
            RefusalRow(
                "all data", ["class": "genp", "r_Data": true, "m_Limit": "m_LimitAll"],
                .badRequest, nil, .badRequest, nil),
            RefusalRow(
                "all data of a file-based keychain",
                ["class": "genp", "r_Data": true, "m_Limit": "m_LimitAll", "nleg": false],
                .badRequest, .badRequest, .badRequest, nil),
            RefusalRow(
                "all data of a file-based keychain's certificates",
                ["class": "cert", "r_Data": true, "m_Limit": "m_LimitAll", "nleg": false],
                .badRequest, nil, .badRequest, nil),
            RefusalRow(
                "data of some of a file-based keychain",
                ["class": "inet", "r_Data": true, "m_Limit": 2, "nleg": false],
                .badRequest, nil, .badRequest, .badRequest),
            RefusalRow(
                "all attributes",
                ["class": "genp", "r_Attributes": true, "m_Limit": "m_LimitAll"],
                .badRequest, nil, .badRequest, nil),
            RefusalRow(
                "data of some", ["class": "genp", "r_Data": true, "m_Limit": 2],
                .badRequest, nil, .badRequest, .badRequest),

            RefusalRow(
                "a list of items to use", genp("u_ItemList", []),
                .badRequest, .badRequest, .badRequest, nil),
            RefusalRow(
                "skipping what asks", genp("u_AuthUI", "u_AuthUIS"),
                .badRequest, nil, .badRequest, .badRequest),
            RefusalRow("not asking", genp("u_AuthUI", "u_AuthUIF"), all: nil),
            RefusalRow("asking somehow", genp("u_AuthUI", "x"), all: .badRequest),
            RefusalRow("asking by number", genp("u_AuthUI", 1), all: .badRequest),
            RefusalRow("not asking, as of old", genp("u_NoAuthUI", true), all: nil),
            RefusalRow("a context that is none", genp("u_AuthCtx", NSObject()), all: .badRequest),
            RefusalRow("words for the user", genp("u_OpPrompt", "why"), all: nil),

            RefusalRow("data", genp("v_Data", Data([1])), all: nil),
            RefusalRow("data that is text", genp("v_Data", "secret"), all: .badRequest),
            RefusalRow("data that is null", genp("v_Data", NSNull()), all: .badRequest),
            RefusalRow("a persistent reference", ["v_PersistentRef": reference], all: nil),
            RefusalRow(
                "an old persistent reference", ["v_PersistentRef": Data(reference.prefix(12))],
                all: .badRequest),
            RefusalRow(
                "a persistent reference to a certificate",
                ["v_PersistentRef": Data("cert".utf8) + Data(repeating: 7, count: 16)],
                all: nil),
            RefusalRow(
                "a persistent reference to an identity",
                ["v_PersistentRef": Data("idnt".utf8) + Data(repeating: 7, count: 16)],
                .badRequest, nil, nil, nil),
            RefusalRow(
                "a persistent reference to something else",
                ["v_PersistentRef": Data("apls".utf8) + Data(repeating: 7, count: 16)],
                all: .badRequest),
            RefusalRow(
                "a persistent reference of another class",
                ["class": "inet", "v_PersistentRef": reference], all: .noSuchClass),
            RefusalRow(
                "a persistent reference and an attribute",
                ["v_PersistentRef": reference, "acct": "joe"], nil, .badRequest, nil, nil),
            RefusalRow(
                "a persistent reference and the keychain to use",
                ["v_PersistentRef": reference, "nleg": true], all: nil),
            RefusalRow("an item", ["v_Ref": item], .badRequest, nil, nil, nil),
            RefusalRow("something as an item", genp("v_Ref", NSObject()), all: .badRequest),

            RefusalRow("an unknown accessibility", genp("pdmn", "xx"), all: .badRequest),
            RefusalRow("an accessibility of the boot", genp("pdmn", "f"), all: .badRequest),
            RefusalRow("rights in words", genp("accc", "ak"), all: .badRequest),
            RefusalRow("rights", genp("accc", rights(.userPresence)), all: nil),
            RefusalRow("rights of the boot", genp("accc", rights([], "f")), all: .badRequest),
            RefusalRow(
                "rights and their own accessibility",
                ["class": "genp", "accc": rights([]), "pdmn": "ak"], all: .badRequest),
            RefusalRow(
                "the rights of an item without any, and its accessibility",
                ["class": "genp", "accc": SecAccessControl(stored: .plain(.always)), "pdmn": "dk"],
                all: nil),
            RefusalRow(
                "the rights of an item without any, and another accessibility",
                ["class": "genp", "accc": SecAccessControl(stored: .plain(.always)), "pdmn": "ak"],
                all: .badRequest),
            RefusalRow(
                "rights, synchronised",
                ["class": "genp", "accc": rights(.userPresence), "sync": 1],
                .badRequest, nil, nil, nil),
        ])
    func `each call refuses what it can't do`(_ row: RefusalRow) {
        let dictionary = row.dictionary() as CFDictionary
        let add = refusal { () throws(Refusal) in _ = try Addition(dictionary) }
        #expect(add == row.add, "add")
        let calls: [(Selection.Call, Refusal?)] = [
            (.copyMatching, row.copy), (.update, row.update), (.delete, row.delete),
        ]
        for (call, expected) in calls {
            let said = refusal { () throws(Refusal) in _ = try Selection(dictionary, for: call) }
            #expect(said == expected, "\(call)")
        }
    }

    @Test(
        arguments: [
            ("class", "genp", Refusal.noSuchAttribute), ("r_Data", true, .noSuchAttribute),
            ("m_Limit", 1, .noSuchAttribute), ("u_AuthUI", "u_AuthUIF", .noSuchAttribute),
            ("x", 1, .noSuchAttribute), ("v_Ref", item, .noSuchAttribute),
            ("srvr", "x", .noSuchAttribute), ("clip", 0, .badRequest), ("ggrp", "x", .badRequest),
            ("v_Data", "text", .badRequest), ("sync", "syna", .badRequest), ("acct", "x", nil),
            ("v_Data", Data(), nil), ("mdat", Date(), nil), ("cdat", Date(), nil),
            ("cdat", "today", .badRequest), ("musr", NSNull(), nil),
            ("accc", rights(.userPresence), nil), ("agrp", "x", nil), ("nleg", true, nil),
        ] as [(String, any Sendable, Refusal?)])
    func `a change takes attributes and data only`(
        _ key: String, _ value: any Sendable, _ expected: Refusal?
    ) {
        let said = refusal { () throws(Refusal) in
            _ = try Change([key: value] as CFDictionary, of: .items(.genericPassword))
        }
        #expect(said == expected)
    }

    @Test func `rights and synchronisation exclude each other in a change`() {
        let said = refusal { () throws(Refusal) in
            let changes = ["accc": rights(.userPresence), "sync": true] as CFDictionary
            _ = try Change(changes, of: .items(.genericPassword))
        }
        #expect(said == .badRequest)
    }

    @Test func `an empty change is one`() throws {
        #expect(
            try Change([:] as CFDictionary, of: .items(.genericPassword)).change == ItemChange())
    }

    @Test(arguments: [(128, nil), (129, Refusal.badRequest)])
    func `a dictionary has 128 keys at most`(_ count: Int, _ expected: Refusal?) {
        var dictionary: [String: Any] = ["class": "genp"]
        for number in 1..<count { dictionary["f_Callback\(number)"] = 1 }
        let said = refusal { () throws(Refusal) in
            _ = try Selection(dictionary as CFDictionary, for: .copyMatching)
        }
        #expect(said == expected)
    }

    @Test func `keys are texts`() {
        let data: NSDictionary = ["class" as NSString: "genp", Data([1]) as NSData: 1]
        let number: NSDictionary = ["class" as NSString: "genp", NSNumber(value: 3): 1]
        let said = [data, number].map { dictionary in
            refusal { () throws(Refusal) in _ = try Selection(dictionary, for: .delete) }
        }
        #expect(said == [.badRequest, .noSuchAttribute])
    }

    @Test func `data has 32 MiB at most`() {
        let most = 32 * 1024 * 1024
        let said = [most, most + 1].map { count in
            refusal { () throws(Refusal) in
                _ = try Addition(genp("v_Data", Data(count: count)) as CFDictionary)
            }
        }
        #expect(said == [nil, .dataTooLarge])
    }
}
