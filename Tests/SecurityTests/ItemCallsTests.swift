// SPDX-License-Identifier: Apache-2.0
import Foundation
import Security
import Testing

@Suite struct ItemCalls {
    @Test func `a password is added once, found, changed and deleted`() {
        let service = freshService()
        let wanted = query(service).with([kSecReturnData as String: true])
        #expect(copyMatching(wanted).status == errSecItemNotFound)
        #expect(add(password(service)) == errSecSuccess)
        #expect(add(password(service).with(["labl": "other"])) == errSecDuplicateItem)
        #expect(copyMatching(wanted).result as? Data == Data("secret".utf8))
        let new = [kSecValueData as String: Data("new".utf8)]
        #expect(update(query(service), new) == errSecSuccess)
        #expect(copyMatching(wanted).result as? Data == Data("new".utf8))
        #expect(delete(query(service)) == errSecSuccess)
        #expect(delete(query(service)) == errSecItemNotFound)
        #expect(update(query(service), new) == errSecItemNotFound)
    }

    // What makes two passwords two; the first is of each class's plain item.
    @Test(
        arguments: [
            ("genp", "acct", "other", false), ("genp", "svce", "other", false),
            ("genp", "sync", 1, false), ("genp", "agrp", "second.group", false),
            ("genp", "labl", "other", true), ("genp", "gena", Data([1]), true),
            ("genp", "pdmn", "ck", true), ("inet", "acct", "other", false),
            ("inet", "srvr", "other", false), ("inet", "sdmn", "other", false),
            ("inet", "ptcl", "htps", false), ("inet", "atyp", "form", false),
            ("inet", "port", 443, false), ("inet", "path", "/x", false),
            ("inet", "desc", "other", true),
        ] as [(String, String, any Sendable, Bool)])
    func `the key of a class is what its table says`(
        _ itemClass: String, _ name: String, _ value: any Sendable, _ isDuplicate: Bool
    ) {
        let first: [String: Any] = ["class": itemClass, "acct": freshService()]
        #expect(add(first) == errSecSuccess)
        let status = add(first.with([name: value]))
        #expect(status == (isDuplicate ? errSecDuplicateItem : errSecSuccess))
    }

    @Test func `a text and data of the same bytes are the same account`() {
        let service = freshService()
        #expect(add(password(service)) == errSecSuccess)
        #expect(add(password(service).with(["acct": Data("joe".utf8)])) == errSecDuplicateItem)
        #expect(copyMatching(query(service).with(["acct": Data("joe".utf8)])).status == 0)
        #expect(copyMatching(query(service).with(["acct": "Joe"])).status == errSecItemNotFound)
    }

    @Test func `case and accents are folded where the query says so`() {
        let service = freshService()
        #expect(add(password(service, account: "Zoë")) == errSecSuccess)
        let wanted = query(service).with(["acct": "zoe"])
        let folds = kSecMatchCaseInsensitive as String
        let both = [folds: true, kSecMatchDiacriticInsensitive as String: true]
        #expect(copyMatching(wanted).status == errSecItemNotFound)
        #expect(copyMatching(wanted.with([folds: true])).status == errSecItemNotFound)
        #expect(copyMatching(wanted.with(both)).status == errSecSuccess)
        #expect(copyMatching(wanted.with(both).with([folds: false])).status == errSecItemNotFound)
    }

    @Test func `a host finds servers below it`() {
        let domain = freshService() + ".example"
        for server in ["www." + domain, domain, "x" + domain] {
            #expect(add(["class": "inet", "srvr": server]) == errSecSuccess)
        }
        let found = copyMatching([
            "class": "inet", kSecMatchHostOrSubdomainOfHost as String: domain,
            "m_Limit": "m_LimitAll", "r_Attributes": true,
        ])
        let servers = (found.result as? [[String: Any]])?.compactMap { $0["srvr"] as? String }
        #expect(Set(servers ?? []) == ["www." + domain, domain])
    }

    @Test(
        arguments: [
            (nil, ["local"]), (0, ["local"]), (1, ["synced"]), ("1", ["synced"]),
            ("syna", ["local", "synced"]),
        ] as [((any Sendable)?, Set<String>)])
    func `synchronised items are found where they are asked for`(
        _ asked: (any Sendable)?, _ expected: Set<String>
    ) {
        let service = freshService()
        #expect(add(password(service, account: "local").with(["sync": "syna"])) == errSecSuccess)
        #expect(add(password(service, account: "synced").with(["sync": true])) == errSecSuccess)
        var wanted = query(service).with(["m_Limit": "m_LimitAll", "r_Attributes": true])
        wanted["sync"] = asked
        let found = copyMatching(wanted).result as? [[String: Any]]
        #expect(Set(found?.compactMap { $0["acct"] as? String } ?? []) == expected)
    }

    @Test func `groups are the program's own, and the first is the default`() {
        let service = freshService()
        let group = kSecAttrAccessGroup as String
        #expect(add(password(service)) == errSecSuccess)
        #expect(add(password(service).with([group: "second.group"])) == errSecSuccess)
        let foreign = [group: "foreign"]
        #expect(add(password(service).with(foreign)) == errSecMissingEntitlement)
        #expect(copyMatching(query(service).with(foreign)).status == errSecMissingEntitlement)
        #expect(update(query(service), foreign) == errSecMissingEntitlement)
        #expect(delete(query(service).with(foreign)) == errSecMissingEntitlement)
        let all = copyMatching(query(service).with(["m_Limit": 9, "r_Attributes": true]))
        let groups = (all.result as? [[String: Any]])?.compactMap { $0[group] as? String }
        #expect(Set(groups ?? []) == ["first.group", "second.group"])
        let second = query(service).with([group: "second.group"])
        #expect(update(second, [group: "first.group"]) == errSecDuplicateItem)
        #expect(update(second, [group: "first.group", "acct": "moved"]) == errSecSuccess)
        #expect(copyMatching(second).status == errSecItemNotFound)
    }

    @Test func `a change moves the date on and keeps the rest`() throws {
        let service = freshService()
        #expect(add(password(service).with(["labl": "old", "icmt": "kept"])) == errSecSuccess)
        let wanted = query(service).with(["r_Attributes": true, "r_Data": true])
        let before = try #require(copyMatching(wanted).result as? [String: Any])
        let changes: [String: Any] = ["labl": "new", "mdat": Date.distantPast, "pdmn": "ck"]
        #expect(update(query(service), changes) == errSecSuccess)
        let after = try #require(copyMatching(wanted).result as? [String: Any])
        #expect(after["labl"] as? String == "new")
        #expect(after["icmt"] as? String == "kept")
        #expect(after["pdmn"] as? String == "ck")
        #expect(after["v_Data"] as? Data == Data("secret".utf8))
        #expect(after["cdat"] as? Date == before["cdat"] as? Date)
        let dates = [before["mdat"] as? Date, after["mdat"] as? Date].compactMap { $0 }
        #expect(dates.count == 2 && dates[0] < dates[1])
        #expect(update(query(service), [:]) == errSecSuccess)
    }

    @Test func `rights are kept, and ask for what they say`() throws {
        let service = freshService()
        let rights = SecAccessControlCreateWithFlags(
            nil, kSecAttrAccessibleAfterFirstUnlock, [], nil)
        let item = password(service).with([kSecAttrAccessControl as String: rights as Any])
        #expect(add(item) == errSecSuccess)
        let wanted = query(service).with(["r_Attributes": true])
        var found = try #require(copyMatching(wanted).result as? [String: Any])
        #expect(found.removeValue(forKey: "sha1") is Data)
        #expect(found[kSecAttrAccessControl as String] as? SecAccessControl == rights)
        #expect(found[kSecAttrAccessible as String] as? String == "ck")
        #expect(copyMatching(found.with(["class": "genp"])).status == errSecSuccess)
        #expect(copyMatching(query(service).with(["pdmn": "ak"])).status == errSecItemNotFound)
        // This keychain has no password, so that no user could ever prove anything.
        let presence = SecAccessControlCreateWithFlags(
            nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil)
        let guarded = password(service, account: "guarded").with(["accc": presence as Any])
        #expect(add(guarded) == errSecAuthFailed)
        let passcode = password(service, account: "passcode").with(["pdmn": "akpu"])
        #expect(add(passcode) == errSecNotAvailable)
    }
}
