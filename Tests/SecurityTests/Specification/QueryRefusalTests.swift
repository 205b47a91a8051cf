// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainModel
import Testing

@testable import Security

/// What each of the four calls says to one dictionary (docs/secitem.md, What each call refuses).
struct RefusalRow: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let dictionary: @Sendable () -> [String: Any]
    let add: RequestError?
    let copy: RequestError?
    let update: RequestError?
    let delete: RequestError?

    init(
        _ name: String, _ dictionary: @autoclosure @escaping @Sendable () -> [String: Any],
        _ add: RequestError?, _ copy: RequestError?, _ update: RequestError?,
        _ delete: RequestError?
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
        all: RequestError?
    ) {
        self.init(name, dictionary(), all, all, all, all)
    }
}

private func refusal(_ read: () throws(RequestError) -> Void) -> RequestError? {
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
            RefusalRow("no class", ["svce": "x"], all: .invalid(.badRequest)),
            RefusalRow("an empty dictionary", [:], all: .invalid(.badRequest)),
            RefusalRow("an unknown class", ["class": "abcd"], all: .invalid(.noSuchClass)),
            RefusalRow(
                "the class of the Secret Service", ["class": "attr"], all: .invalid(.noSuchClass)),
            RefusalRow(
                "the class of shared passwords", ["class": "apls"], all: .invalid(.noSuchClass)),
            RefusalRow("a class that is no text", ["class": 5], all: .invalid(.badRequest)),
            RefusalRow("certificates", ["class": "cert"], all: nil),
            RefusalRow("keys", ["class": "keys"], all: nil),
            RefusalRow("identities", ["class": "idnt"], .invalid(.badRequest), nil, nil, nil),
            RefusalRow("a certificate", ["v_Ref": certificate], all: nil),
            RefusalRow("a key", ["v_Ref": key], all: nil),
            RefusalRow("an identity", ["v_Ref": identity], all: nil),
            RefusalRow(
                "a certificate as a key", ["class": "keys", "v_Ref": certificate],
                all: .invalid(.noSuchClass)),
            RefusalRow(
                "a tag of a certificate", ["class": "cert", "atag": "x"],
                all: .invalid(.noSuchAttribute)),
            RefusalRow(
                "a comment of a key", ["class": "keys", "icmt": "x"],
                all: .invalid(.noSuchAttribute)),
            RefusalRow(
                "a tag of an identity", ["class": "idnt", "atag": "x"],
                .invalid(.badRequest), nil, .invalid(.noSuchAttribute), .invalid(.noSuchAttribute)),
            RefusalRow(
                "a service of an identity", ["class": "idnt", "svce": "x"],
                all: .invalid(.noSuchAttribute)),
            RefusalRow(
                "all data of certificates",
                ["class": "cert", "r_Data": true, "m_Limit": "m_LimitAll"],
                .invalid(.badRequest), nil, .invalid(.badRequest), nil),
            RefusalRow(
                "issuers of a certificate", ["class": "cert", "m_Issuers": [Data()]],
                .invalid(.badRequest), nil, .invalid(.badRequest), .invalid(.badRequest)),
            RefusalRow(
                "issuers of a key", ["class": "keys", "m_Issuers": [Data()]],
                .invalid(.badRequest), .invalid(.notImplemented), .invalid(.badRequest),
                .invalid(.badRequest)),
            RefusalRow(
                "trusted certificates", ["class": "cert", "m_TrustedOnly": true],
                .invalid(.badRequest), nil, .invalid(.badRequest), .invalid(.badRequest)),
            RefusalRow(
                "certificates for a purpose",
                ["class": "cert", "m_Policy": SecPolicyCreateBasicX509()],
                .invalid(.badRequest), nil, .invalid(.badRequest), .invalid(.badRequest)),
            RefusalRow(
                "identities for a purpose",
                ["class": "idnt", "m_Policy": SecPolicyCreateBasicX509()],
                .invalid(.badRequest), nil, .invalid(.badRequest), .invalid(.badRequest)),
            RefusalRow(
                "keys for a purpose", ["class": "keys", "m_Policy": SecPolicyCreateBasicX509()],
                .invalid(.badRequest), .invalid(.notImplemented), .invalid(.badRequest),
                .invalid(.badRequest)),
            RefusalRow(
                "trust that is no boolean", ["class": "cert", "m_TrustedOnly": 1],
                all: .invalid(.badRequest)),
            RefusalRow(
                "a date that is none", ["class": "cert", "m_ValidOnDate": 1],
                all: .invalid(.badRequest)),
            RefusalRow(
                "trusted certificates or not", ["class": "cert", "m_TrustedOnly": false],
                .invalid(.badRequest), nil, .invalid(.badRequest), .invalid(.badRequest)),
            RefusalRow(
                "trusted passwords", genp("m_TrustedOnly", true),
                .invalid(.badRequest), nil, .invalid(.badRequest), .invalid(.badRequest)),
            RefusalRow(
                "an address that is no text", ["class": "cert", "m_EmailAddressIfPresent": 1],
                all: .invalid(.badRequest)),

            RefusalRow("an unknown attribute", genp("abcd", "x"), all: .invalid(.noSuchAttribute)),
            RefusalRow("a service of a server", inet("svce", "x"), all: .invalid(.noSuchAttribute)),
            RefusalRow("a server of a service", genp("srvr", "x"), all: .invalid(.noSuchAttribute)),
            // A second secret beside the first, which items here have not (docs/decisions.md).
            RefusalRow(
                "extra notes of a server", inet("binn", Data()), all: .invalid(.noSuchAttribute)),
            RefusalRow("an app clip's item", genp("clip", 0), all: .invalid(.badRequest)),
            RefusalRow("a sharing group", genp("ggrp", "x"), all: .refused(.notEntitled)),
            RefusalRow(
                "a sharing group, synchronised", ["class": "genp", "ggrp": "x", "sync": true],
                all: .invalid(.badRequest)),
            RefusalRow("the data protection keychain", genp("nleg", true), all: nil),
            RefusalRow("synchronised or not", genp("sync", "syna"), all: nil),
            RefusalRow("synchronised how", genp("sync", "x"), all: .invalid(.badRequest)),

            RefusalRow("an unknown letter", genp("xxxxxx", 1), all: .invalid(.badRequest)),
            RefusalRow("a key of one letter", genp("m", 1), all: .invalid(.badRequest)),
            RefusalRow("an empty key", genp("", 1), all: .invalid(.badRequest)),
            RefusalRow("an unknown match key", genp("m_Typo!", 1), all: .invalid(.badRequest)),
            RefusalRow("an unknown return key", genp("r_Typo!", true), all: .invalid(.badRequest)),
            RefusalRow("an unknown use key", genp("u_Typo!", true), all: .invalid(.badRequest)),
            RefusalRow("an unknown value key", genp("v_Typo!", Data()), all: .invalid(.badRequest)),
            RefusalRow("a callback", genp("f_Callback", 1), all: nil),

            RefusalRow(
                "ignoring case", genp("m_CaseInsensitive", true),
                .invalid(.badRequest), nil, .invalid(.badRequest), .invalid(.badRequest)),
            RefusalRow(
                "a limit", genp("m_Limit", "m_LimitOne"),
                .invalid(.badRequest), nil, .invalid(.badRequest), .invalid(.badRequest)),
            RefusalRow(
                "no limit", genp("m_Limit", "m_LimitAll"),
                .invalid(.badRequest), nil, .invalid(.badRequest), nil),
            RefusalRow(
                "no limit, as a number", genp("m_Limit", -1),
                .invalid(.badRequest), nil, .invalid(.badRequest), .invalid(.badRequest)),
            RefusalRow(
                "no limit, but a filter",
                ["class": "genp", "m_Limit": "m_LimitAll", "m_CaseInsensitive": true],
                .invalid(.badRequest), nil, .invalid(.badRequest), .invalid(.badRequest)),
            RefusalRow(
                "a date", genp("m_ValidOnDate", NSNull()),
                .invalid(.badRequest), nil, .invalid(.badRequest), .invalid(.badRequest)),
            RefusalRow("a limit that is true", genp("m_Limit", true), all: .invalid(.badRequest)),
            RefusalRow("a limit in words", genp("m_Limit", "1"), all: .invalid(.badRequest)),
            RefusalRow("a limit below zero", genp("m_Limit", -2), all: .invalid(.badRequest)),
            RefusalRow("half a limit", genp("m_Limit", 1.5), all: .invalid(.badRequest)),
            RefusalRow(
                "case that is no boolean", genp("m_CaseInsensitive", 1), all: .invalid(.badRequest)),
            RefusalRow(
                "issuers of a password", genp("m_Issuers", [Data()]),
                .invalid(.badRequest), .invalid(.notImplemented), .invalid(.badRequest),
                .invalid(.badRequest)),
            RefusalRow(
                "a host of a service", genp("m_HostOrSubdomainOfHost", "x"),
                .invalid(.badRequest), .invalid(.notImplemented), .invalid(.badRequest),
                .invalid(.badRequest)),
            RefusalRow(
                "a host", inet("m_HostOrSubdomainOfHost", "x"),
                .invalid(.badRequest), nil, .invalid(.badRequest), .invalid(.badRequest)),
            RefusalRow(
                "a host that is no text", inet("m_HostOrSubdomainOfHost", 1),
                all: .invalid(.badRequest)),
            RefusalRow("a policy that is none", genp("m_Policy", "x"), all: .invalid(.badRequest)),
            RefusalRow(
                "a search list of texts", genp("m_SearchList", ["x"]), all: .invalid(.badRequest)),
            RefusalRow(
                "an item list of texts", genp("m_ItemList", ["x"]), all: .invalid(.badRequest)),
            RefusalRow(
                "an item list", genp("m_ItemList", [reference, item]),
                .invalid(.badRequest), nil, .invalid(.badRequest), .invalid(.badRequest)),

            RefusalRow("data wanted", genp("r_Data", true), nil, nil, .invalid(.badRequest), nil),
            RefusalRow("data not wanted", genp("r_Data", false), all: nil),
            RefusalRow("data wanted by a number", genp("r_Data", 1), all: .invalid(.badRequest)),
            RefusalRow("data wanted in words", genp("r_Data", "true"), all: .invalid(.badRequest)),
            RefusalRow(
                "all data", ["class": "genp", "r_Data": true, "m_Limit": "m_LimitAll"],
                .invalid(.badRequest), nil, .invalid(.badRequest), nil),
            RefusalRow(
                "all data of a file-based keychain",
                ["class": "genp", "r_Data": true, "m_Limit": "m_LimitAll", "nleg": false],
                .invalid(.badRequest), .invalid(.badRequest), .invalid(.badRequest), nil),
            RefusalRow(
                "all data of a file-based keychain's certificates",
                ["class": "cert", "r_Data": true, "m_Limit": "m_LimitAll", "nleg": false],
                .invalid(.badRequest), nil, .invalid(.badRequest), nil),
            RefusalRow(
                "data of some of a file-based keychain",
                ["class": "inet", "r_Data": true, "m_Limit": 2, "nleg": false],
                .invalid(.badRequest), nil, .invalid(.badRequest), .invalid(.badRequest)),
            RefusalRow(
                "all attributes",
                ["class": "genp", "r_Attributes": true, "m_Limit": "m_LimitAll"],
                .invalid(.badRequest), nil, .invalid(.badRequest), nil),
            RefusalRow(
                "data of some", ["class": "genp", "r_Data": true, "m_Limit": 2],
                .invalid(.badRequest), nil, .invalid(.badRequest), .invalid(.badRequest)),

            RefusalRow(
                "a list of items to use", genp("u_ItemList", []),
                .invalid(.badRequest), .invalid(.badRequest), .invalid(.badRequest), nil),
            RefusalRow(
                "skipping what asks", genp("u_AuthUI", "u_AuthUIS"),
                .invalid(.badRequest), nil, .invalid(.badRequest), .invalid(.badRequest)),
            RefusalRow("not asking", genp("u_AuthUI", "u_AuthUIF"), all: nil),
            RefusalRow("asking somehow", genp("u_AuthUI", "x"), all: .invalid(.badRequest)),
            RefusalRow("asking by number", genp("u_AuthUI", 1), all: .invalid(.badRequest)),
            RefusalRow("not asking, as of old", genp("u_NoAuthUI", true), all: nil),
            RefusalRow(
                "a context that is none", genp("u_AuthCtx", NSObject()), all: .invalid(.badRequest)),
            RefusalRow("words for the user", genp("u_OpPrompt", "why"), all: nil),

            RefusalRow("data", genp("v_Data", Data([1])), all: nil),
            RefusalRow("data that is text", genp("v_Data", "secret"), all: .invalid(.badRequest)),
            RefusalRow("data that is null", genp("v_Data", NSNull()), all: .invalid(.badRequest)),
            RefusalRow("a persistent reference", ["v_PersistentRef": reference], all: nil),
            RefusalRow(
                "an old persistent reference", ["v_PersistentRef": Data(reference.prefix(12))],
                all: .invalid(.badRequest)),
            RefusalRow(
                "a persistent reference to a certificate",
                ["v_PersistentRef": Data("cert".utf8) + Data(repeating: 7, count: 16)],
                all: nil),
            RefusalRow(
                "a persistent reference to an identity",
                ["v_PersistentRef": Data("idnt".utf8) + Data(repeating: 7, count: 16)],
                .invalid(.badRequest), nil, nil, nil),
            RefusalRow(
                "a persistent reference to something else",
                ["v_PersistentRef": Data("apls".utf8) + Data(repeating: 7, count: 16)],
                all: .invalid(.badRequest)),
            RefusalRow(
                "a persistent reference to an item of the Secret Service",
                ["v_PersistentRef": Data("attr".utf8) + Data(repeating: 7, count: 16)],
                all: .invalid(.badRequest)),
            RefusalRow(
                "a persistent reference of another class",
                ["class": "inet", "v_PersistentRef": reference], all: .invalid(.noSuchClass)),
            RefusalRow(
                "a persistent reference and an attribute",
                ["v_PersistentRef": reference, "acct": "joe"], nil, .invalid(.badRequest), nil, nil),
            RefusalRow(
                "a persistent reference and the keychain to use",
                ["v_PersistentRef": reference, "nleg": true], all: nil),
            RefusalRow("an item", ["v_Ref": item], .invalid(.badRequest), nil, nil, nil),
            RefusalRow(
                "something as an item", genp("v_Ref", NSObject()), all: .invalid(.badRequest)),

            RefusalRow("an unknown accessibility", genp("pdmn", "xx"), all: .invalid(.badRequest)),
            RefusalRow(
                "an accessibility of the boot", genp("pdmn", "f"), all: .invalid(.badRequest)),
            RefusalRow("rights in words", genp("accc", "ak"), all: .invalid(.badRequest)),
            RefusalRow("rights", genp("accc", rights(.userPresence)), all: nil),
            RefusalRow(
                "rights of the boot", genp("accc", rights([], "f")), all: .invalid(.badRequest)),
            RefusalRow(
                "rights and their own accessibility",
                ["class": "genp", "accc": rights([]), "pdmn": "ak"], all: .invalid(.badRequest)),
            RefusalRow(
                "the rights of an item without any, and its accessibility",
                ["class": "genp", "accc": SecAccessControl(stored: .plain(.always)), "pdmn": "dk"],
                all: nil),
            RefusalRow(
                "the rights of an item without any, and another accessibility",
                ["class": "genp", "accc": SecAccessControl(stored: .plain(.always)), "pdmn": "ak"],
                all: .invalid(.badRequest)),
            RefusalRow(
                "rights, synchronised",
                ["class": "genp", "accc": rights(.userPresence), "sync": 1],
                .invalid(.badRequest), nil, nil, nil),
        ])
    func `each call refuses what it can't do`(_ row: RefusalRow) {
        let dictionary = row.dictionary() as CFDictionary
        let add = refusal { () throws(RequestError) in _ = try Addition(dictionary) }
        #expect(add == row.add, "add")
        let calls: [(Selection.Call, RequestError?)] = [
            (.copyMatching, row.copy), (.update, row.update), (.delete, row.delete),
        ]
        for (call, expected) in calls {
            let said = refusal { () throws(RequestError) in _ = try Selection(dictionary, for: call)
            }
            #expect(said == expected, "\(call)")
        }
    }

    @Test(
        arguments: [
            ("class", "genp", RequestError.invalid(.noSuchAttribute)),
            ("r_Data", true, .invalid(.noSuchAttribute)),
            ("m_Limit", 1, .invalid(.noSuchAttribute)),
            ("u_AuthUI", "u_AuthUIF", .invalid(.noSuchAttribute)),
            ("x", 1, .invalid(.noSuchAttribute)), ("v_Ref", item, .invalid(.noSuchAttribute)),
            ("srvr", "x", .invalid(.noSuchAttribute)), ("clip", 0, .invalid(.badRequest)),
            ("ggrp", "x", .invalid(.badRequest)),
            ("v_Data", "text", .invalid(.badRequest)), ("sync", "syna", .invalid(.badRequest)),
            ("acct", "x", nil),
            ("v_Data", Data(), nil), ("mdat", Date(), nil), ("cdat", Date(), nil),
            ("cdat", "today", .invalid(.badRequest)), ("musr", NSNull(), nil),
            ("accc", rights(.userPresence), nil), ("agrp", "x", nil), ("nleg", true, nil),
        ] as [(String, any Sendable, RequestError?)])
    func `a change takes attributes and data only`(
        _ key: String, _ value: any Sendable, _ expected: RequestError?
    ) {
        let said = refusal { () throws(RequestError) in
            _ = try Change([key: value] as CFDictionary, of: .items(.genericPassword))
        }
        #expect(said == expected)
    }

    @Test func `rights and synchronisation exclude each other in a change`() {
        let said = refusal { () throws(RequestError) in
            let changes = ["accc": rights(.userPresence), "sync": true] as CFDictionary
            _ = try Change(changes, of: .items(.genericPassword))
        }
        #expect(said == .invalid(.badRequest))
    }

    @Test func `an empty change is one`() throws {
        #expect(
            try Change([:] as CFDictionary, of: .items(.genericPassword)).change == ItemChange())
    }

    @Test(arguments: [(128, nil), (129, RequestError.invalid(.badRequest))])
    func `a dictionary has 128 keys at most`(_ count: Int, _ expected: RequestError?) {
        var dictionary: [String: Any] = ["class": "genp"]
        for number in 1..<count { dictionary["f_Callback\(number)"] = 1 }
        let said = refusal { () throws(RequestError) in
            _ = try Selection(dictionary as CFDictionary, for: .copyMatching)
        }
        #expect(said == expected)
    }

    @Test func `keys are texts`() {
        let data: NSDictionary = ["class" as NSString: "genp", Data([1]) as NSData: 1]
        let number: NSDictionary = ["class" as NSString: "genp", NSNumber(value: 3): 1]
        let said = [data, number].map { dictionary in
            refusal { () throws(RequestError) in _ = try Selection(dictionary, for: .delete) }
        }
        #expect(said == [.invalid(.badRequest), .invalid(.noSuchAttribute)])
    }

    @Test func `data has 32 MiB at most`() {
        let most = 32 * 1024 * 1024
        let said = [most, most + 1].map { count in
            refusal { () throws(RequestError) in
                _ = try Addition(genp("v_Data", Data(count: count)) as CFDictionary)
            }
        }
        #expect(said == [nil, .invalid(.dataTooLarge)])
    }
}
