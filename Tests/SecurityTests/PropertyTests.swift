// SPDX-License-Identifier: Apache-2.0
import Foundation
import Security
import Testing

/// Random calls, and the same on a plain model: they must never differ. A failure names its seed.
extension CertificateItems {
    @Suite(.serialized) struct Properties {
        private static let classes = ["genp", "inet", "cert", "keys"]
        private static let names: [String: [String]] = [
            "genp": ["acct", "svce", "labl", "icmt", "type", "invi"],
            "inet": ["acct", "srvr", "labl", "port", "path", "ptcl"],
            "cert": ["ctyp", "issr", "slnr", "labl"],
            "keys": ["klbl", "atag", "type", "bsiz", "labl"],
        ]
        private static let values: [any Sendable] = [
            "a", "b", "", "1", "\u{E9}", "e\u{301}", Data("a".utf8), Data([0xFF]), Data(),
        ]
        private static let numbers: [any Sendable] = [0, 1, 2, "1", "2", "x", true, false]
        private static let numeric: Set = ["type", "invi", "port", "ptcl", "ctyp", "bsiz"]

        init() {
            precondition(TestKeychain.isReady)
            for group in ["model.group", "model.other"] {
                for itemClass in Self.classes {
                    _ = delete(["class": itemClass, "sync": "syna", "agrp": group])
                }
            }
        }

        @Test(arguments: [1, 2, 3, 4] as [UInt64])
        func `calls do what they do on a plain model`(_ seed: UInt64) {
            var random = SeededGenerator(seed: seed)
            var model = PlainKeychain()
            for step in 0..<500 {
                let query = Self.dictionary(&random, mayBeAny: true)
                let place: Comment = "seed \(seed), step \(step): \(query)"
                switch Int.random(in: 0..<10, using: &random) {
                case 0..<4:
                    let item = Self.item(&random)
                    let expected = model.add(item)
                    #expect(add(item) == expected, "seed \(seed), step \(step): \(item)")
                case 4..<7: Self.compare(query, model, place)
                case 7..<9:
                    var changes = Self.dictionary(&random, mayBeAny: false)
                    changes["class"] = nil
                    let expected = model.update(query, changes)
                    #expect(update(query, changes) == expected, "\(place) \(changes)")
                default:
                    let expected = model.delete(query)
                    #expect(delete(query) == expected, place)
                }
            }
            for itemClass in Self.classes {
                for group in ["model.group", "model.other"] {
                    let all: [String: Any] = ["class": itemClass, "agrp": group, "sync": "syna"]
                    Self.compare(all, model, "seed \(seed), the end: \(all)")
                }
            }
        }

        /// All items with their attributes, and one with its data.
        private static func compare(
            _ query: [String: Any], _ model: PlainKeychain, _ place: Comment
        ) {
            let expected = model.matching(query)
            let all = copyMatching(query.with(["r_Attributes": true, "m_Limit": "m_LimitAll"]))
            #expect(all.status == expected.status, place)
            let found = all.result as? [[String: Any]] ?? []
            #expect(found.count == expected.items.count, place)
            for (item, wanted) in zip(found, expected.items) {
                for (name, value) in wanted where name != "class" && name != "v_Data" {
                    #expect(item[name] as? AnyHashable == value, "\(name), \(place)")
                }
            }
            let one = copyMatching(query.with(["r_Data": true]))
            #expect(one.status == expected.status, place)
            #expect(one.result as? Data == expected.items.first?["v_Data"]?.base as? Data, place)
        }

        private static func item(_ random: inout SeededGenerator) -> [String: Any] {
            var item = dictionary(&random, mayBeAny: false)
            if Bool.random(using: &random) {
                item["v_Data"] = Data([UInt8.random(in: 0...255, using: &random)])
            }
            return item
        }

        private static func dictionary(
            _ random: inout SeededGenerator, mayBeAny: Bool
        ) -> [String: Any] {
            let itemClass = classes.randomElement(using: &random)!
            var dictionary: [String: Any] = ["class": itemClass]
            dictionary["agrp"] =
                Int.random(in: 0..<6, using: &random) == 0 ? "model.other" : "model.group"
            for name in names[itemClass]! where Int.random(in: 0..<3, using: &random) == 0 {
                let values = numeric.contains(name) ? numbers : values
                dictionary[name] = values.randomElement(using: &random)!
            }
            switch Int.random(in: 0..<8, using: &random) {
            case 0: dictionary["sync"] = true
            case 1 where mayBeAny: dictionary["sync"] = "syna"
            case 2: dictionary["pdmn"] = "ck"
            // A class does not have every attribute, nor a program every group.
            case 3: dictionary[["svce", "srvr", "atag"].randomElement(using: &random)!] = "a"
            case 4 where Bool.random(using: &random): dictionary["agrp"] = "foreign"
            default: break
            }
            return dictionary
        }
    }
}
