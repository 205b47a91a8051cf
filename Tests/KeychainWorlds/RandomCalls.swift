// SPDX-License-Identifier: Apache-2.0
import Foundation
import Security

/// Makes random calls on the keychain of this process, and the same ones on a plain model, and
/// compares the results.
public struct RandomCalls {
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

    /// The program's own groups, the default one first. All of their items are deleted.
    private let groups: [String]
    /// Whether updates change items' protection, for which policies may ask the user.
    private let changesProtection: Bool
    private var model: PlainKeychain
    private var random: SeededGenerator
    /// Sentences about the differences; empty where there are none.
    public private(set) var differences: [String] = []

    public init(seed: UInt64, groups: [String], changesProtection: Bool = true) {
        self.groups = groups
        self.changesProtection = changesProtection
        model = PlainKeychain(groups: groups)
        random = SeededGenerator(seed: seed)
        for group in groups {
            for itemClass in Self.classes {
                _ = delete(["class": itemClass, "sync": "syna", "agrp": group])
            }
        }
    }

    public mutating func run(steps: Int) {
        for step in 0..<steps { call(step) }
        for itemClass in Self.classes {
            for group in groups {
                compare(["class": itemClass, "agrp": group, "sync": "syna"], "the end")
            }
        }
    }

    private mutating func call(_ step: Int) {
        let query = dictionary(mayBeAny: true)
        let place = "step \(step)"
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<4:
            let item = item()
            expect(model.add(item), add(item), "\(place): add \(item)")
        case 4..<7: compare(query, place)
        case 7..<9:
            var changes = dictionary(mayBeAny: false)
            changes["class"] = nil
            if !changesProtection { changes["pdmn"] = nil }
            let expected = model.update(query, changes)
            expect(expected, update(query, changes), "\(place): update \(query) \(changes)")
        default: expect(model.delete(query), delete(query), "\(place): delete \(query)")
        }
    }

    private mutating func expect(_ expected: OSStatus, _ status: OSStatus, _ what: String) {
        if status != expected { differences.append("\(what): \(status), not \(expected)") }
    }

    /// Compares all items with their attributes, one item with its data, and the data of all.
    private mutating func compare(_ query: [String: Any], _ place: String) {
        let place = "\(place): copy \(query)"
        let expected = model.matching(query)
        let all = copyMatching(query.with(["r_Attributes": true, "m_Limit": "m_LimitAll"]))
        expect(expected.status, all.status, place)
        let found = all.result as? [[String: Any]] ?? []
        if found.count != expected.items.count {
            differences.append("\(place): \(found.count) items, not \(expected.items.count)")
        }
        for (item, wanted) in zip(found, expected.items) {
            for (name, value) in wanted where name != "class" && name != "v_Data" {
                if item[name] as? AnyHashable == value { continue }
                differences.append("\(place): \(name) is \(item[name] ?? "nil"), not \(value)")
            }
        }
        let one = copyMatching(query.with(["r_Data": true]))
        expect(expected.status, one.status, place)
        if one.result as? Data != expected.items.first?["v_Data"]?.base as? Data {
            differences.append("\(place): other data")
        }
        let data = copyMatching(query.with(["r_Data": true, "m_Limit": "m_LimitAll"]))
        expect(expected.status, data.status, place)
        let secrets = data.result as? [Data] ?? []
        if secrets != expected.items.compactMap({ $0["v_Data"]?.base as? Data }) {
            differences.append("\(place): other data of all")
        }
    }

    private mutating func item() -> [String: Any] {
        var item = dictionary(mayBeAny: false)
        if Bool.random(using: &random) {
            item["v_Data"] = Data([UInt8.random(in: 0...255, using: &random)])
        }
        return item
    }

    private mutating func dictionary(mayBeAny: Bool) -> [String: Any] {
        let itemClass = Self.classes.randomElement(using: &random)!
        var dictionary: [String: Any] = ["class": itemClass]
        dictionary["agrp"] =
            groups[Int.random(in: 0..<6, using: &random) == 0 ? groups.count - 1 : 0]
        for name in Self.names[itemClass]! where Int.random(in: 0..<3, using: &random) == 0 {
            let values = Self.numeric.contains(name) ? Self.numbers : Self.values
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
