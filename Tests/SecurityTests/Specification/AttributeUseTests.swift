// SPDX-License-Identifier: Apache-2.0
import Foundation
import Security
import Testing

/// What one attribute is given and given back as, and whether a change may set it.
private struct Row: Sendable, CustomTestStringConvertible {
    enum Update { case accepted, ignored, overwritten, refused }

    let itemClass: String
    let name: String
    let given: any Sendable
    let returned: (any Hashable & Sendable)?
    let other: any Sendable
    let update: Update

    var testDescription: String { "\(itemClass) \(name)" }

    /// `returned` is what is given where nothing else is said.
    init(
        _ itemClass: String, _ name: String, _ given: any Hashable & Sendable,
        as returned: (any Hashable & Sendable)? = nil, _ other: any Sendable,
        _ update: Update = .accepted
    ) {
        self.itemClass = itemClass
        self.name = name
        self.given = given
        self.returned = returned ?? given
        self.other = other
        self.update = update
    }
}

private let past = Date(timeIntervalSinceReferenceDate: 86_400)
private let later = Date(timeIntervalSinceReferenceDate: 172_800.5)
private let bytes = Data([1, 0xFF])

private func shared(_ itemClass: String) -> [Row] {
    [
        Row(itemClass, "agrp", "first.group", "second.group"),
        Row(itemClass, "pdmn", "ck", "dk"),
        Row(itemClass, "sync", "0", as: 0, 1),
        Row(itemClass, "labl", "name", bytes), Row(itemClass, "labl", bytes, 7),
        Row(itemClass, "alis", "name", bytes), Row(itemClass, "tkid", "token", "other"),
        Row(itemClass, "vwht", "hint", "other"),
        Row(itemClass, "musr", Data(repeating: 1, count: 16), Data(), .ignored),
        Row(itemClass, "sysb", 1, 0), Row(itemClass, "tomb", 0, 0),
    ]
}

private func password(_ itemClass: String) -> [Row] {
    [
        Row(itemClass, "acct", "joe", bytes), Row(itemClass, "desc", "kind", bytes),
        Row(itemClass, "icmt", "words", bytes), Row(itemClass, "crtr", "7", as: 7, "text"),
        Row(itemClass, "type", 7, 8), Row(itemClass, "invi", true, as: 1, false),
        Row(itemClass, "nega", false, as: 0, true), Row(itemClass, "cusi", 1, 0),
        Row(itemClass, "scrp", 1, 0), Row(itemClass, "prot", bytes, "text"),
    ]
}

private let rows: [Row] =
    ["genp", "inet", "cert", "keys"].flatMap(shared)
    + ["genp", "inet"].flatMap(password)
    + [
        Row("genp", "svce", "mail", bytes), Row("genp", "gena", bytes, "text"),
        Row("inet", "sdmn", "domain", bytes), Row("inet", "srvr", "host", bytes),
        Row("inet", "ptcl", "htps", "http"), Row("inet", "atyp", "form", "dflt"),
        Row("inet", "port", "443", as: 443, 80), Row("inet", "port", "", 80),
        Row("inet", "path", "/", bytes),
        Row("cert", "ctyp", 3, 1), Row("cert", "cenc", 3, 1), Row("cert", "subj", bytes, "text"),
        Row("cert", "issr", "text", as: Data("text".utf8), bytes),
        Row("cert", "slnr", 1, as: Data([1, 0, 0, 0]), bytes),
        Row("cert", "skid", bytes, Data()), Row("cert", "pkhh", bytes, Data()),
        Row("keys", "kcls", "1", as: 1, 0), Row("keys", "klbl", bytes, Data()),
        Row("keys", "atag", "tag", bytes), Row("keys", "crtr", 1, 2),
        Row("keys", "type", "42", as: 42, "73"),
        Row("keys", "type", "2147483678", 73),
        Row("keys", "bsiz", 256, 384), Row("keys", "esiz", 256, 384),
        Row("keys", "sdat", past, later), Row("keys", "edat", later, past),
    ]
    + [
        "perm", "priv", "modi", "sens", "asen", "extr", "next", "encr", "decr", "drve", "sign",
        "vrfy", "snrc", "vyrc", "wrap", "unwp",
    ].map { Row("keys", $0, true, as: 1, false) }

extension CertificateItems {
    /// Spec 1.4–1.8, row by row: the columns Ret and Upd, and that each attribute finds its item.
    @Suite(.serialized) struct SpecifiedAttributes {
        @Test(arguments: rows)
        fileprivate func `an attribute comes back, finds its item and changes`(_ row: Row) throws {
            // A part of the key that all classes have keeps the rows apart.
            let mark = row.name == "tkid" ? "vwht" : "tkid"
            let all: [String: Any] = ["class": row.itemClass, mark: freshService(), "sync": "syna"]
            #expect(add(all.with(["sync": 0]).with([row.name: row.given])) == errSecSuccess)
            let query = all.with(["r_Attributes": true])
            let found = try #require(copyMatching(query).result as? [String: Any])
            let returned = try #require(found[row.name] as? AnyHashable)
            #expect(returned == row.returned.map { AnyHashable($0) })
            let asked = all.with([row.name: row.given])
            #expect(copyMatching(asked).status == errSecSuccess)
            let status = update(all, [row.name: row.other])
            #expect(status == (row.update == .refused ? errSecParam : errSecSuccess))
            let again = copyMatching(asked).status
            let isSame = row.update == .ignored || row.name == "tomb"
            #expect(again == (isSame ? errSecSuccess : errSecItemNotFound))
            #expect(copyMatching(all).status == errSecSuccess)
        }

        @Test(arguments: ["genp", "inet", "cert", "keys"])
        func `dates are the keychain's, except that a change may set the first`(
            _ itemClass: String
        ) throws {
            let all: [String: Any] = ["class": itemClass, "tkid": freshService()]
            let query = all.with(["r_Attributes": true])
            let before = Date()
            #expect(add(all.with(["cdat": past, "mdat": past])) == errSecSuccess)
            let added = try #require(copyMatching(query).result as? [String: Any])
            let created = try #require(added["cdat"] as? Date)
            #expect(created >= before && added["mdat"] as? Date == created)
            #expect(copyMatching(all.with(["cdat": created])).status == errSecSuccess)
            #expect(copyMatching(all.with(["mdat": past])).status == errSecItemNotFound)
            #expect(update(all, ["cdat": past, "mdat": past]) == errSecSuccess)
            let changed = try #require(copyMatching(query).result as? [String: Any])
            #expect(changed["cdat"] as? Date == past)
            #expect(try #require(changed["mdat"] as? Date) > created)
        }

        @Test(arguments: [("genp", "ak"), ("inet", "ak"), ("cert", "dk"), ("keys", "ak")])
        func `what an item is given that is given nothing`(
            _ itemClass: String, _ accessible: String
        ) throws {
            let all: [String: Any] = ["class": itemClass, "tkid": freshService()]
            #expect(add(all) == errSecSuccess)
            let query = all.with(["r_Attributes": true])
            let found = try #require(copyMatching(query).result as? [String: Any])
            #expect(found["pdmn"] as? String == accessible)
            #expect(found["accc"] is SecAccessControl)
            #expect(found["agrp"] as? String == "first.group")
            #expect(found["sync"] as? Int == 0 && found["tomb"] as? Int == 0)
            #expect(found["musr"] as? Data == Data())
            for absent in [
                "labl", "desc", "icmt", "type", "invi", "class", "UUID", "v_Data", "clip",
            ] {
                // A key has a type even so.
                #expect(found[absent] == nil || (itemClass == "keys" && absent == "type"))
            }
        }

        @Test func `a digest differs after each change, and is no query`() throws {
            let all: [String: Any] = ["class": "genp", "svce": freshService()]
            #expect(add(all.with(["v_Data": Data([1])])) == errSecSuccess)
            let query = all.with(["r_Attributes": true])
            func digest() -> Data? {
                (copyMatching(query).result as? [String: Any])?["sha1"] as? Data
            }
            let first = try #require(digest())
            #expect(first.count == 20 && digest() == first)
            #expect(update(all, ["v_Data": Data([2])]) == errSecSuccess)
            let second = try #require(digest())
            #expect(second != first)
            #expect(copyMatching(all.with(["sha1": second])).status == errSecItemNotFound)
            #expect(copyMatching(all.with(["sha1": Data([1])])).status == errSecParam)
        }

        @Test func `an addition shows what can be given, and no more`() throws {
            var result: CFTypeRef?
            let item: [String: Any] = [
                "class": "genp", "svce": freshService(), "r_Attributes": true,
            ]
            #expect(SecItemAdd(item as CFDictionary, &result) == errSecSuccess)
            let added = try #require(result as? [String: Any])
            #expect(added["sha1"] is Data && added["tomb"] == nil && added["musr"] == nil)
        }
    }
}
