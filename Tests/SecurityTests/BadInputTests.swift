// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainModel
import KeychainWorlds
import Testing

@testable import Security

/// Any dictionary gets a status; none ends the program.
@Suite struct BadInput {
    private static let keys = [
        "class", "acct", "svce", "srvr", "port", "agrp", "pdmn", "accc", "sync", "cdat", "musr",
        "tomb", "sha1", "clip", "ggrp", "nleg", "tkid", "m_Limit", "m_CaseInsensitive",
        "m_ItemList", "m_SearchList", "m_HostOrSubdomainOfHost", "m_Policy", "m_ValidOnDate",
        "r_Data", "r_Attributes", "r_Ref", "r_PersistentRef", "u_AuthUI", "u_NoAuthUI",
        "u_OpPrompt", "u_ItemList", "v_Data", "v_Ref", "v_PersistentRef", "", "m", "é", "é",
        "ctyp", "issr", "subj", "slnr", "pkhh", "kcls", "klbl", "atag", "type", "bsiz", "sdat",
        "priv", "m_Issuers", "m_SubjectContains", "m_EmailAddressIfPresent", "m_TrustedOnly",
        "m_SubjectStartsWith", "m_SubjectEndsWith", "m_SubjectWholeString",
        "m_DiacriticInsensitive", "m_WidthInsensitive", "acls", "u_AuthCtx", "u_CredRef", "binn",
        "labl", "UUID", "edat", "persistref", "f_Callback",
        "\0\0\0\0", "ke\0y", "😀😀", "xxxxxxxxx",
    ]

    private static let classes = ["genp", "inet", "cert", "keys", "idnt"]

    private static func values() -> [Any] {
        [
            "genp", "inet", "cert", "keys", "idnt", "syna", "ak", "m_LimitAll", "u_AuthUIS", "",
            "nul\0inside",
            "\u{301}", String(repeating: "x", count: 10_000), 0, 1, -1, Int.max, Int.min,
            UInt64.max, Double.nan, Double.infinity, 1e300, true, false, Data(), Data([0xFF]),
            Data(count: 20), Data("genp".utf8) + Data(count: 16), Date.distantFuture,
            Date(timeIntervalSinceReferenceDate: .nan), NSNull(), UUID(), [1, "x"] as [Any],
            ["x": ["y": [NSNull()]]] as [String: Any], NSObject(), NSSet(), Int?.none as Any,
            { (number: Int) in number }, kCFBooleanTrue as Any, Int.self, loneSurrogate,
            certificate as Any, key as Any, [certificate as Any],
            Date(timeIntervalSinceReferenceDate: -.greatestFiniteMagnitude),
            SecAccessControl(stored: .plain(.always)), presence, item, [item, deleted],
            deleted, noKeychain, [noKeychain], identity as Any, SecPolicyCreateBasicX509(),
            SecPolicyCreateSSL(true, "example.org" as NSString), NSURL(string: "x:") as Any,
            NSDecimalNumber(string: "1e99"), NSMutableString("syna"), NSMutableData(length: 20)!,
        ]
    }

    private static let certificate = Fixture.certificate(Fixture.expired)
    private static let key = Fixture.key(Fixture.rsaKey, kSecAttrKeyTypeRSA)

    private static let identity = SecIdentityCreate(
        nil, Fixture.certificate(Fixture.leaf)!, Fixture.key(Fixture.leafKey, kSecAttrKeyTypeEC)!)
    private static let presence = SecAccessControlCreateWithFlags(
        nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil)!
    private static let noKeychain = SecKeychain(KeychainName("nobodys")!)
    /// Of items that never were, or are no more.
    private static let item = reference("genp")
    private static let deleted = Data("inet".utf8) + Data(repeating: 9, count: 16)

    private static func reference(_ itemClass: String) -> SecKeychainItem {
        let bytes = Array(itemClass.utf8) + [UInt8](repeating: 7, count: 16)
        return SecKeychainItem(ItemReference(bytes: bytes)!, in: "login")
    }

    /// Text that is not Unicode.
    private static var loneSurrogate: NSString {
        let unit: [UInt16] = [0xD800]
        return NSString(characters: unit, length: 1)
    }

    @Test(arguments: 0..<64)
    func `no dictionary is too strange to be answered`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let statuses: Set<OSStatus> = [
            0, -4, -50, -25291, -25293, -25294, -25299, -25300, -25303, -25306, -26276, -34018,
        ]
        for _ in 0..<50 {
            let query = Self.dictionary(&random)
            let changes = Self.dictionary(&random)
            var result: CFTypeRef?
            #expect(statuses.contains(SecItemAdd(query, &result)), "\(query)")
            #expect(statuses.contains(SecItemCopyMatching(query, &result)), "\(query)")
            #expect(statuses.contains(SecItemUpdate(query, changes)), "\(query) \(changes)")
            #expect(statuses.contains(SecItemDelete(query)), "\(query)")
        }
    }

    /// In a group of its own, so that it changes and deletes no other test's items.
    private static func dictionary(_ random: inout SeededGenerator) -> CFDictionary {
        let values = values()
        var dictionary: [String: Any] = ["agrp": "strange.group"]
        dictionary["class"] = classes.randomElement(using: &random)!
        for _ in 0..<Int.random(in: 0..<5, using: &random) {
            dictionary[keys.randomElement(using: &random)!] = values.randomElement(using: &random)!
        }
        return dictionary as CFDictionary
    }
}
