// SPDX-License-Identifier: Apache-2.0
import Foundation
import Security
import Testing

private let abc: [CallRow.Words] = [["acct": "a"], ["acct": "b"], ["acct": "c"]]
private let synced: [CallRow.Words] = [["acct": "local"], ["acct": "synced", "sync": true]]
private let servers: [CallRow.Words] = ["example.org", "www.example.org", "badexample.org"].map {
    ["class": "inet", "srvr": $0, "acct": $0]
}
private let grouped: [CallRow.Words] = [
    ["acct": "first"], ["acct": "second", "agrp": "second.group"],
]
private let nobody = errSecMissingEntitlement
private let lax: CallRow.Words = ["m_CaseInsensitive": true]

/// Spec 3.3 and 3.5 to 3.10: what the calls find, change and delete. The other tables are beside this
/// one: 1.1 and 1.9 `ConstantTable`, 1.2 `Conversion`, 1.3 to 1.8 `AttributeTables` and
/// `SpecifiedAttributes`, 2 `SpecifiedUniqueness`, 3.1, 3.2 and 3.14 `QueryRefusals`, 3.4
/// `ResultShapes`, 3.6 `References`, 3.13 `ErrorMessages`, 4 `AccessControls`. What certificates, keys
/// and identities add to 1.7, 1.8, 3.5 and 3.11 is in `CertificateItems`; 5.1, which needs locked
/// keychains, in KeychainItemStoreTests.
@Suite struct SpecifiedCalls {
    // 3.3. Default limits and selection.
    @Test(
        arguments: [
            CallRow(
                "an update changes all", abc, .update([:], ["labl": "x"]), .leaves(["a", "b", "c"])),
            CallRow(
                "a change of all moves all", abc,
                .update([:], ["svce": "elsewhere" + UUID().uuidString]), .leaves([])),
            CallRow("a delete deletes all", abc, .delete([:]), .leaves([])),
            CallRow("a delete of one", abc, .delete(["acct": "a"]), .leaves(["b", "c"])),
            CallRow("no more than a limit", abc, .copy(["m_Limit": 0]), .finds([])),
            CallRow("as many as a limit", abc, .copy(["m_Limit": 3]), .finds(["a", "b", "c"])),
            CallRow("minus one is all", abc, .copy(["m_Limit": -1]), .finds(["a", "b", "c"])),
            CallRow("minus two is nothing", abc, .copy(["m_Limit": -2]), .status(errSecParam)),
            CallRow("nothing found", [], .copy([:]), .status(errSecItemNotFound)),
            CallRow(
                "nothing to change", [], .update([:], ["labl": "x"]), .status(errSecItemNotFound)),
            CallRow("nothing to delete", [], .delete([:]), .status(errSecItemNotFound)),
            CallRow(
                "what was added first comes first", abc.reversed(),
                .copy(["m_Limit": "m_LimitOne"]), .finds(["c"])),
        ])
    func `a call means as many items as it says`(_ row: CallRow) { row.check() }

    // 3.5. Matching rules.
    @Test(
        arguments: [
            CallRow(
                "all attributes must hold", abc, .copy(["acct": "a", "labl": "x"]), .finds([])),
            CallRow("no case is folded", abc, .copy(["acct": "A"]), .finds([])),
            CallRow("no part is a match", [["acct": "joe"]], .copy(["acct": "jo"]), .finds([])),
            CallRow("no wildcards", [["acct": "joe"]], .copy(["acct": "*"]), .finds([])),
            CallRow(
                "no normalisation", [["acct": "\u{E9}"]], .copy(["acct": "e\u{301}"]), .finds([])),
            CallRow("a zero is a letter", [["acct": "a\0b"]], .copy(["acct": "a"]), .finds([])),
            CallRow("and is found", [["acct": "a\0b"]], .copy(["acct": "a\0b"]), .finds(["a\0b"])),
            CallRow("bytes for text", abc, .copy(["acct": Data("a".utf8)]), .finds(["a"])),
            CallRow(
                "a protocol of four letters is no number",
                [["class": "inet", "ptcl": "http", "acct": "x"]],
                .copy(["class": "inet", "ptcl": 0x6874_7470]), .finds([])),
            CallRow(
                "a number in words", [["acct": "x", "type": 7]], .copy(["type": "7"]), .finds(["x"])
            ),
            CallRow("folding case", abc, .copy(lax.merging(["acct": "A"]) { $1 }), .finds(["a"])),
            CallRow(
                "folding accents", [["acct": "zoë"]],
                .copy(["acct": "zoe", "m_DiacriticInsensitive": true]), .finds(["zoë"])),
            CallRow(
                "folding widths", [["acct": "ａ"]],
                .copy(["acct": "a", "m_WidthInsensitive": true]), .finds(["ａ"])),
            CallRow(
                "folding nothing", abc, .copy(["acct": "A", "m_CaseInsensitive": false]), .finds([])
            ),
            CallRow(
                "a host and what is below", servers,
                .copy(["class": "inet", "m_HostOrSubdomainOfHost": "example.org"]),
                .finds(["example.org", "www.example.org"])),
            CallRow(
                "a host is not above itself", servers,
                .copy(["class": "inet", "m_HostOrSubdomainOfHost": "www.example.org"]),
                .finds(["www.example.org"])),
            CallRow(
                "a host in other letters", servers,
                .copy(["class": "inet", "m_HostOrSubdomainOfHost": "Example.org"]), .finds([])),
            CallRow(
                "a server of bytes is no host",
                [["class": "inet", "srvr": Data("example.org".utf8), "acct": "x"]],
                .copy(["class": "inet", "m_HostOrSubdomainOfHost": "example.org"]), .finds([])),
            CallRow(
                "a filter comes before the limit", servers.reversed(),
                .copy([
                    "class": "inet", "m_HostOrSubdomainOfHost": "www.example.org",
                    "m_Limit": "m_LimitOne",
                ]), .finds(["www.example.org"])),
            CallRow(
                "a date says nothing of passwords", abc,
                .copy(["m_ValidOnDate": Date.distantFuture]), .finds(["a", "b", "c"])),
            CallRow(
                "nor does trust", abc, .copy(["m_TrustedOnly": true]), .finds(["a", "b", "c"])),
            CallRow(
                "nor an address", abc, .copy(["m_EmailAddressIfPresent": "a@example.org"]),
                .finds(["a", "b", "c"])),
            CallRow(
                "nor a subject", abc, .copy(["m_SubjectContains": "x"]), .finds(["a", "b", "c"])),
            CallRow(
                "data in a query", abc, .copy(["acct": "a", "v_Data": Data([9])]), .finds(["a"])),
            CallRow(
                "rights in a query", abc, .copy(["acct": "a", "accc": presence]), .finds(["a"])),
            CallRow("tombstones, of which there are none", abc, .copy(["tomb": 1]), .finds([])),
            CallRow("an empty list of items", abc, .copy(["m_ItemList": [Data]()]), .finds([])),
            CallRow(
                "an empty list of keychains", abc, .copy(["m_SearchList": [Data]()]), .finds([])),
        ])
    func `a search finds what its dictionary means`(_ row: CallRow) { row.check() }

    // 3.7. kSecAttrSynchronizable.
    @Test(
        arguments: [
            CallRow("absent", synced, .copy([:]), .finds(["local"])),
            CallRow("false", synced, .copy(["sync": false]), .finds(["local"])),
            CallRow("true", synced, .copy(["sync": true]), .finds(["synced"])),
            CallRow("1", synced, .copy(["sync": 1]), .finds(["synced"])),
            CallRow("1 in words", synced, .copy(["sync": "1"]), .finds(["synced"])),
            CallRow("any", synced, .copy(["sync": "syna"]), .finds(["local", "synced"])),
            CallRow("something else", synced, .copy(["sync": "x"]), .status(errSecParam)),
            CallRow("any, added", [["acct": "x", "sync": "syna"]], .copy([:]), .finds(["x"])),
            CallRow("any, deleted", synced, .delete(["sync": "syna"]), .leaves([])),
            CallRow("the local one, deleted", synced, .delete([:]), .leaves(["synced"])),
            CallRow(
                "any, changed", synced, .update(["sync": "syna"], ["labl": "x"]),
                .leaves(["local", "synced"])),
            CallRow(
                "to any", synced, .update([:], ["sync": "syna"]),
                .fails(errSecParam, leaving: ["local", "synced"])),
            CallRow(
                "both, made one", [["acct": "x"], ["acct": "x", "sync": 1]],
                .update([:], ["sync": 1]), .fails(errSecDuplicateItem, leaving: ["x"])),
            CallRow("with rights", [], .add(["sync": 1, "accc": presence]), .status(errSecParam)),
            CallRow(
                "with rights, in a change", synced, .update([:], ["sync": 1, "accc": presence]),
                .status(errSecParam)),
        ])
    func `synchronised items are items of their own`(_ row: CallRow) { row.check() }

    // 3.8. Access groups.
    @Test(
        arguments: [
            CallRow(
                "absent on add: the first", grouped, .copy(["agrp": "first.group"]),
                .finds(["first"])),
            CallRow("absent: every group", grouped, .copy([:]), .finds(["first", "second"])),
            CallRow("one of them", grouped, .copy(["agrp": "second.group"]), .finds(["second"])),
            CallRow(
                "one of them, deleted", grouped, .delete(["agrp": "second.group"]),
                .leaves(["first"])),
            CallRow("a foreign one, added", [], .add(["agrp": "foreign"]), .status(nobody)),
            CallRow(
                "a foreign one, searched", grouped, .copy(["agrp": "foreign"]), .status(nobody)),
            CallRow(
                "a foreign one, changed", grouped, .update(["agrp": "foreign"], ["labl": "x"]),
                .status(nobody)),
            CallRow(
                "a foreign one, deleted", grouped, .delete(["agrp": "foreign"]), .status(nobody)),
            CallRow(
                "moved to a foreign one", grouped, .update([:], ["agrp": "foreign"]),
                .fails(nobody, leaving: ["first", "second"])),
            CallRow("every group is no group", grouped, .copy(["agrp": "*"]), .status(nobody)),
            CallRow(
                "moved", grouped, .update(["acct": "first"], ["agrp": "second.group"]),
                .leaves(["first", "second"])),
            CallRow(
                "moved onto another", [["acct": "x"], ["acct": "x", "agrp": "second.group"]],
                .update(["agrp": "first.group"], ["agrp": "second.group"]),
                .fails(errSecDuplicateItem, leaving: ["x"])),
            CallRow("a group of people", [], .add(["ggrp": "x"]), .status(nobody)),
        ])
    func `groups are the program's own`(_ row: CallRow) { row.check() }

    // 3.2 and 3.9. What a secret may be.
    @Test(
        arguments: [
            CallRow("none", [], .add(["acct": "x"]), .leaves(["x"])),
            CallRow("an empty one", [], .add(["acct": "x", "v_Data": Data()]), .leaves(["x"])),
            CallRow("text", [], .add(["v_Data": "x"]), .status(errSecParam)),
            CallRow("null", [], .add(["v_Data": NSNull()]), .status(errSecParam)),
            CallRow("text, in a change", abc, .update([:], ["v_Data": "x"]), .status(errSecParam)),
            CallRow("text, in a query", abc, .copy(["v_Data": "x"]), .status(errSecParam)),
            CallRow(
                "32 MiB and a byte", [], .add(["v_Data": Data(count: 32 << 20 | 1)]),
                .status(errSecDataTooLarge)),
            CallRow(
                "the same in a change", abc, .update([:], ["v_Data": Data(count: 32 << 20 | 1)]),
                .status(errSecDataTooLarge)),
            CallRow(
                "attributes of 5 MiB", [], .add(["acct": String(repeating: "x", count: 5 << 20)]),
                .status(errSecDataTooLarge)),
        ])
    func `a secret is data`(_ row: CallRow) { row.check() }

    // 3.10 and 4.4. Rights, and classes that need a password.
    @Test(
        arguments: [
            CallRow(
                "presence, where no user could prove it", [], .add(["accc": presence]),
                .fails(errSecAuthFailed, leaving: [])),
            CallRow(
                "a change to presence there", abc, .update(["acct": "a"], ["accc": presence]),
                .fails(errSecAuthFailed, leaving: ["a", "b", "c"])),
            CallRow(
                "a key's rights on a password", [], .add(["accc": keyUse]),
                .fails(errSecAuthFailed, leaving: [])),
            CallRow(
                "rights that ask nothing", [], .add(["acct": "x", "accc": nothing]), .leaves(["x"])),
            CallRow(
                "are found by their class", [["acct": "x", "accc": nothing]], .copy(["pdmn": "ck"]),
                .finds(["x"])),
            CallRow("are deleted", [["acct": "x", "accc": nothing]], .delete([:]), .leaves([])),
            CallRow(
                "are changed", [["acct": "x", "accc": nothing]], .update([:], ["pdmn": "dk"]),
                .leaves(["x"])),
            CallRow(
                "rights and their class", [], .add(["accc": nothing, "pdmn": "ck"]),
                .status(errSecParam)),
            CallRow(
                "a passcode, where there is none", [], .add(["pdmn": "akpu"]),
                .fails(errSecNotAvailable, leaving: [])),
            CallRow(
                "a change to that", abc, .update(["acct": "a"], ["pdmn": "akpu"]),
                .fails(errSecNotAvailable, leaving: ["a", "b", "c"])),
            CallRow("a class that is none", [], .add(["pdmn": "x"]), .status(errSecParam)),
            CallRow("an empty change", abc, .update(["acct": "a"], [:]), .leaves(["a", "b", "c"])),
            CallRow(
                "a class in a change", abc, .update([:], ["class": "genp"]),
                .status(errSecNoSuchAttr)),
        ])
    func `rights are kept and asked for`(_ row: CallRow) { row.check() }
}

private func rights(_ flags: SecAccessControlCreateFlags) -> SecAccessControl {
    SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleAfterFirstUnlock, flags, nil)!
}
private let presence = rights(.userPresence)
private let keyUse = rights(.privateKeyUsage)
private let nothing = rights([])
