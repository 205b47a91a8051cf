// SPDX-License-Identifier: Apache-2.0
import Foundation
import Security
import Testing

extension CertificateItems {
    /// Spec 2: what makes two items two.
    @Suite(.serialized) struct SpecifiedUniqueness {
        /// Class, attribute, and a value that another item has: is it a duplicate all the same?
        @Test(
            arguments: [
                ("genp", "acct", "other", false), ("genp", "svce", "other", false),
                ("genp", "agrp", "second.group", false), ("genp", "sync", 1, false),
                ("genp", "vwht", "hint", false), ("genp", "tkid", "token", false),
                ("genp", "musr", Data(repeating: 1, count: 16), false),
                ("genp", "labl", "other", true), ("genp", "gena", Data([1]), true),
                ("genp", "desc", "other", true), ("genp", "icmt", "other", true),
                ("genp", "crtr", 1, true), ("genp", "type", 1, true), ("genp", "invi", 1, true),
                ("genp", "nega", 1, true), ("genp", "cusi", 1, true), ("genp", "scrp", 1, true),
                ("genp", "prot", Data([1]), true), ("genp", "alis", "other", true),
                ("genp", "sysb", 1, true), ("genp", "pdmn", "ck", true),
                ("genp", "cdat", Date.distantPast, true), ("genp", "v_Data", Data([1]), true),
                ("inet", "acct", "other", false), ("inet", "sdmn", "other", false),
                ("inet", "srvr", "other", false), ("inet", "ptcl", "htps", false),
                ("inet", "atyp", "form", false), ("inet", "port", 443, false),
                ("inet", "path", "/x", false), ("inet", "agrp", "second.group", false),
                ("inet", "sync", 1, false), ("inet", "labl", "other", true),
                ("inet", "desc", "other", true), ("inet", "pdmn", "ck", true),
                ("cert", "ctyp", 1, false), ("cert", "issr", Data([1]), false),
                ("cert", "slnr", Data([1]), false), ("cert", "sync", 1, false),
                ("cert", "agrp", "second.group", false), ("cert", "cenc", 3, true),
                ("cert", "subj", Data([1]), true), ("cert", "skid", Data([1]), true),
                ("cert", "pkhh", Data([1]), true), ("cert", "labl", "other", true),
                ("keys", "kcls", 1, false), ("keys", "klbl", Data([1]), false),
                ("keys", "atag", "other", false), ("keys", "crtr", 1, false),
                ("keys", "type", 42, false), ("keys", "bsiz", 256, false),
                ("keys", "esiz", 256, false), ("keys", "sdat", Date(), false),
                ("keys", "edat", Date(), false), ("keys", "sync", 1, false),
                ("keys", "agrp", "second.group", false), ("keys", "perm", 1, true),
                ("keys", "priv", 1, true), ("keys", "modi", 1, true), ("keys", "sens", 1, true),
                ("keys", "asen", 1, true), ("keys", "extr", 1, true), ("keys", "next", 1, true),
                ("keys", "encr", 1, true), ("keys", "decr", 1, true), ("keys", "drve", 1, true),
                ("keys", "sign", 1, true), ("keys", "vrfy", 1, true), ("keys", "snrc", 1, true),
                ("keys", "vyrc", 1, true), ("keys", "wrap", 1, true), ("keys", "unwp", 1, true),
                ("keys", "labl", "other", true),
            ] as [(String, String, any Sendable, Bool)])
        func `items are two where one of the key's attributes differs`(
            _ itemClass: String, _ name: String, _ value: any Sendable, _ isDuplicate: Bool
        ) {
            // Alone with a token of its own, which every class has.
            let first: [String: Any] = ["class": itemClass, "tkid": freshService()]
            #expect(add(first) == errSecSuccess)
            let status = add(first.with([name: value]))
            #expect(status == (isDuplicate ? errSecDuplicateItem : errSecSuccess))
        }

        /// Class, attribute, and the value that an item without it has.
        @Test(
            arguments: [
                ("genp", "acct", ""), ("genp", "svce", ""), ("genp", "sync", 0),
                ("genp", "vwht", ""), ("genp", "musr", Data()),
                ("inet", "acct", ""), ("inet", "sdmn", ""), ("inet", "srvr", ""),
                ("inet", "ptcl", 0),
                ("inet", "atyp", ""), ("inet", "port", 0), ("inet", "path", ""),
                ("cert", "ctyp", 0), ("cert", "issr", Data()), ("cert", "slnr", Data()),
                ("keys", "kcls", 0), ("keys", "klbl", Data()), ("keys", "atag", ""),
                ("keys", "crtr", 0), ("keys", "type", 0), ("keys", "bsiz", 0), ("keys", "esiz", 0),
                ("keys", "sdat", Date(timeIntervalSinceReferenceDate: 0)),
                ("keys", "edat", Date(timeIntervalSinceReferenceDate: 0)),
            ] as [(String, String, any Sendable)])
        func `an absent attribute counts as its default`(
            _ itemClass: String, _ name: String, _ value: any Sendable
        ) {
            let first: [String: Any] = ["class": itemClass, "tkid": freshService()]
            #expect(add(first) == errSecSuccess)
            #expect(add(first.with([name: value])) == errSecDuplicateItem)
        }

        @Test(
            arguments: [
                CallRow(
                    "text and data of the same bytes", [["acct": "a"]],
                    .add(["acct": Data("a".utf8)]), .status(errSecDuplicateItem)),
                CallRow(
                    "another case", [["acct": "a"]], .add(["acct": "A"]), .status(errSecSuccess)),
                CallRow(
                    "the same letter, written otherwise", [["acct": "\u{E9}"]],
                    .add(["acct": "e\u{301}"]), .status(errSecSuccess)),
                CallRow(
                    "an item that the query would not find", [["acct": "a", "labl": "x"]],
                    .add(["acct": "a", "labl": "y"]), .status(errSecDuplicateItem)),
                CallRow(
                    "a duplicate by a change", [["acct": "a"], ["acct": "b"]],
                    .update(["acct": "b"], ["acct": "a"]),
                    .fails(errSecDuplicateItem, leaving: ["a", "b"])),
                CallRow(
                    "two that would become one", [["acct": "a"], ["acct": "b"]],
                    .update([:], ["acct": "c"]), .fails(errSecDuplicateItem, leaving: ["a", "b"])),
                CallRow(
                    "a change to what it is already", [["acct": "a"]],
                    .update(["acct": "a"], ["acct": "a"]), .leaves(["a"])),
            ])
        func `duplicates are told by their bytes, and change nothing`(_ row: CallRow) {
            row.check()
        }
    }
}
