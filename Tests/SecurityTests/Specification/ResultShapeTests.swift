// SPDX-License-Identifier: Apache-2.0
import Foundation
import Security
import Testing

/// What one item looks like in an answer (docs/secitem.md, Result shape).
private enum Shape: Sendable, Equatable {
    case nothing, data, reference, persistentReference
    /// A dictionary with these keys besides the attributes.
    case dictionary(Set<String>)

    init(_ object: CFTypeRef?) {
        switch object {
        case nil: self = .nothing
        case let data as Data where data.count == 20: self = .persistentReference
        case is Data: self = .data
        case is SecKeychainItem: self = .reference
        case let dictionary as [String: Any]:
            let extra: Set<String> = ["v_Data", "v_Ref", "v_PersistentRef", "class"]
            let hasAttributes =
                dictionary["acct"] as? String == "joe" && dictionary["agrp"] is String
                && dictionary["accc"] is SecAccessControl && dictionary["pdmn"] as? String == "ak"
            self = hasAttributes ? .dictionary(extra.intersection(dictionary.keys)) : .nothing
        default: self = .nothing
        }
    }
}

private let flags: [(String, Character)] = [
    ("r_Data", "D"), ("r_Attributes", "A"), ("r_Ref", "R"), ("r_PersistentRef", "P"),
]

@Suite struct ResultShapes {
    @Test(
        arguments: [
            ("", .nothing), ("D", .data), ("A", .dictionary([])), ("P", .persistentReference),
            ("R", .reference), ("DA", .dictionary(["v_Data"])),
            ("DP", .dictionary(["v_Data", "v_PersistentRef"])),
            ("AP", .dictionary(["v_PersistentRef"])), ("AR", .dictionary(["v_Ref", "class"])),
            ("DR", .dictionary(["v_Data", "v_Ref", "class"])),
            ("PR", .dictionary(["v_PersistentRef", "v_Ref", "class"])),
            ("DAP", .dictionary(["v_Data", "v_PersistentRef"])),
            ("DAPR", .dictionary(["v_Data", "v_PersistentRef", "v_Ref", "class"])),
        ] as [(String, Shape)])
    private func `each choice of flags has its shape`(_ letters: String, _ shape: Shape) {
        let service = freshService()
        let wanted = flags.reduce(into: [String: Any]()) { wanted, flag in
            wanted[flag.0] = letters.contains(flag.1)
        }
        var added: CFTypeRef?
        let item = password(service).with(wanted) as CFDictionary
        #expect(SecItemAdd(item, &added) == errSecSuccess)
        #expect(Shape(added) == shape, "add")
        let one = copyMatching(query(service).with(wanted))
        #expect(one.status == errSecSuccess)
        #expect(Shape(one.result) == shape, "copy")
        let two = copyMatching(query(service).with(wanted).with(["m_Limit": 2]))
        #expect(
            (two.result as? [AnyObject])?.map { Shape($0) } == (shape == .nothing ? [] : [shape]))
    }

    @Test(
        arguments: [
            ("m_LimitOne", nil), ("m_LimitAll", 3), (1, nil), (2, 2), (3, 3), (9, 3), (-1, 3),
        ] as [(any Sendable, Int?)])
    func `a limit that is not one gives an array`(_ limit: any Sendable, _ count: Int?) {
        let service = freshService()
        for account in ["a", "b", "c"] { #expect(add(password(service, account: account)) == 0) }
        let found = copyMatching(query(service).with(["m_Limit": limit, "r_Attributes": true]))
        #expect(found.status == errSecSuccess)
        #expect((found.result as? [Any])?.count == count)
    }

    @Test func `a limit of zero finds nothing`() {
        let service = freshService()
        #expect(add(password(service)) == errSecSuccess)
        #expect(copyMatching(query(service).with(["m_Limit": 0])).status == errSecItemNotFound)
        for wanted in ["r_Data", "r_Attributes", "r_Ref"] {
            let none = query(service).with(["m_Limit": 0, "u_AuthUI": "u_AuthUIS", wanted: true])
            #expect(copyMatching(none).status == errSecItemNotFound, "\(wanted)")
        }
    }

    @Test func `the data of all passwords is an array of them`() {
        let service = freshService()
        for account in ["a", "b"] {
            #expect(
                add(password(service, account: account).with(["v_Data": Data(account.utf8)])) == 0)
        }
        let all = query(service).with(["m_Limit": "m_LimitAll", "r_Data": true])
        #expect(copyMatching(all).result as? [Data] == [Data("a".utf8), Data("b".utf8)])
        let whole = copyMatching(all.with(["r_Attributes": true])).result as? [[String: Any]]
        #expect(whole?.map { $0["acct"] as? String } == ["a", "b"])
        #expect(whole?.map { $0["v_Data"] as? Data } == [Data("a".utf8), Data("b".utf8)])
        #expect(copyMatching(all.with(["nleg": false])).status == errSecParam)
    }

    @Test func `an item without data, or with none in it`() {
        let service = freshService()
        var bare = password(service, account: "bare")
        bare[kSecValueData as String] = nil
        let empty = password(service, account: "empty").with([kSecValueData as String: Data()])
        var added: CFTypeRef?
        #expect(SecItemAdd(bare.with(["r_Data": true]) as CFDictionary, &added) == errSecSuccess)
        #expect(added as? Data == Data())
        #expect(add(empty) == errSecSuccess)
        let ofBare = copyMatching(query(service).with(["acct": "bare", "r_Data": true]))
        #expect(ofBare.status == errSecSuccess && ofBare.result == nil)
        let ofEmpty = copyMatching(query(service).with(["acct": "empty", "r_Data": true]))
        #expect(ofEmpty.result as? Data == Data())
        let both = copyMatching(query(service).with(["m_Limit": 5, "r_Data": true]))
        #expect(both.result as? [Data] == [Data()])
        let attributes = copyMatching(
            query(service).with(["acct": "bare", "r_Data": true, "r_Attributes": true]))
        #expect((attributes.result as? [String: Any])?["v_Data"] == nil)
    }

    @Test func `a failure leaves the result alone`() {
        let before = "untouched" as NSString
        var result: CFTypeRef? = before
        let missing = query(freshService()).with(["r_Data": true]) as CFDictionary
        #expect(SecItemCopyMatching(missing, &result) == errSecItemNotFound)
        #expect(SecItemCopyMatching(["x": 1] as CFDictionary, &result) == errSecParam)
        #expect(SecItemAdd(["class": "genp", "v_Data": 1] as CFDictionary, &result) == errSecParam)
        #expect(result === before)
    }

    @Test func `attributes come back as they were given`() throws {
        let service = freshService()
        let account = Data([0, 0xFF])
        let given: [String: Any] = [
            "acct": account, "labl": "name", "desc": "kind", "icmt": 7, "gena": Data("g".utf8),
            "crtr": "1", "type": "note", "invi": true, "nega": false, "sync": kCFBooleanTrue!,
            "scrp": 1.5, "cdat": Date.distantPast,
        ]
        #expect(add(password(service).with(given)) == errSecSuccess)
        let found = copyMatching(query(service).with(["sync": "syna", "r_Attributes": true]))
        let item = try #require(found.result as? [String: Any])
        #expect(item["acct"] as? Data == account)
        #expect(item["svce"] as? String == service)
        #expect(item["labl"] as? String == "name")
        #expect(item["desc"] as? String == "kind")
        #expect(item["icmt"] as? Int == 7)
        #expect(item["gena"] as? Data == Data("g".utf8))
        #expect(item["crtr"] as? Int == 1)
        #expect(item["type"] as? String == "note")
        #expect(item["scrp"] as? Double == 1.5)
        for (name, value) in [("invi", 1), ("nega", 0), ("sync", 1)] {
            let number = try #require((found.result as? NSDictionary)?[name] as? NSNumber)
            #expect(number == NSNumber(value: value), "\(name)")
            #expect(CFGetTypeID(number) == CFNumberGetTypeID(), "\(name)")
        }
        let created = try #require(item["cdat"] as? Date)
        #expect(abs(created.timeIntervalSinceNow) < 600)
        #expect(item["mdat"] as? Date == created)
        #expect(item["class"] == nil && item["v_Data"] == nil && item["UUID"] == nil)
    }

    @Test func `what was found is itself a query for it`() throws {
        let service = freshService()
        #expect(add(password(service).with(["labl": "x", "sync": 1])) == errSecSuccess)
        let found = copyMatching(query(service).with(["sync": "syna", "r_Attributes": true]))
        var item = try #require(found.result as? [String: Any])
        #expect(item.removeValue(forKey: "sha1") is Data)
        let again = item.with([kSecClass as String: kSecClassGenericPassword])
        #expect(copyMatching(again).status == errSecSuccess)
        #expect(copyMatching(again.with(["labl": "y"])).status == errSecItemNotFound)
    }
}
