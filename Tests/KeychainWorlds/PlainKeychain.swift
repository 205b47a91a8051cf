// SPDX-License-Identifier: Apache-2.0
import Foundation
import Security

/// The four calls on items in plain memory, written from the specification alone: the model that
/// the keychain is compared with.
struct PlainKeychain {
    typealias Item = [String: AnyHashable]

    private(set) var items: [Item] = []
    /// The access groups of the program, the default one first.
    private let groups: [String]

    init(groups: [String]) { self.groups = groups }

    /// Kinds of attributes that the test uses.
    private static let blobs: Set = ["acct", "svce", "srvr", "labl", "icmt", "atag", "path"]
    private static let data: Set = ["issr", "slnr", "klbl"]
    private static let numbers: Set = ["port", "type", "ptcl", "ctyp", "bsiz", "invi"]
    private static let hashed: Set = [
        "acct", "svce", "srvr", "labl", "icmt", "atag", "path", "issr", "slnr", "kcls",
    ]
    private static let own: [String: [String]] = [
        "genp": ["acct", "svce", "labl", "icmt", "type", "invi"],
        "inet": ["acct", "srvr", "labl", "icmt", "type", "invi", "port", "path", "ptcl"],
        "cert": ["ctyp", "issr", "slnr", "labl"],
        "keys": ["klbl", "atag", "type", "bsiz", "labl"],
    ]
    /// The attributes that tell items of a class apart, with the values that absent ones count as.
    private static var key: [String: Item] {
        [
            "genp": ["acct": "", "svce": ""],
            "inet": ["acct": "", "srvr": "", "port": 0, "path": "", "ptcl": 0],
            "cert": ["ctyp": 0, "issr": Data(), "slnr": Data()],
            "keys": ["klbl": Data(), "atag": "", "type": 0, "bsiz": 0],
        ]
    }

    // MARK: The calls

    mutating func add(_ dictionary: [String: Any]) -> OSStatus {
        if let status = refusal(dictionary) { return status }
        var item = Self.converted(dictionary)
        let itemClass = dictionary["class"] as? String ?? ""
        item["class"] = itemClass
        item.merge(Self.key[itemClass] ?? [:]) { given, _ in given }
        item["sync"] = item["sync"] ?? AnyHashable(0)
        item["agrp"] = item["agrp"] ?? AnyHashable(groups[0])
        item["pdmn"] = item["pdmn"] ?? AnyHashable(itemClass == "cert" ? "dk" : "ak")
        if items.contains(where: { Self.isSame($0, item) }) { return errSecDuplicateItem }
        items.append(item)
        return errSecSuccess
    }

    func matching(_ query: [String: Any]) -> (status: OSStatus, items: [Item]) {
        if let status = refusal(query) { return (status, []) }
        let found = places(query).map { items[$0] }
        return (found.isEmpty ? errSecItemNotFound : errSecSuccess, found)
    }

    mutating func update(_ query: [String: Any], _ changes: [String: Any]) -> OSStatus {
        let ofClass = changes.merging(["class": query["class"] ?? ""]) { $1 }
        let refusals = [
            unknownAttribute(query), unknownAttribute(ofClass), refusal(query), refusal(ofClass),
        ]
        if let status = refusals.compactMap({ $0 }).first { return status }
        let change = Self.converted(changes)
        let places = places(query)
        guard !places.isEmpty else { return errSecItemNotFound }
        var changed = items
        for place in places {
            let new = changed[place].merging(change) { $1 }
            let isTaken = changed.indices.contains {
                $0 != place && Self.isSame(changed[$0], new)
            }
            if isTaken { return errSecDuplicateItem }
            changed[place] = new
        }
        items = changed
        return errSecSuccess
    }

    mutating func delete(_ query: [String: Any]) -> OSStatus {
        if let status = refusal(query) { return status }
        let places = Set(places(query))
        items = items.indices.filter { !places.contains($0) }.map { items[$0] }
        return places.isEmpty ? errSecItemNotFound : errSecSuccess
    }

    // MARK: The rules

    private func places(_ query: [String: Any]) -> [Int] {
        let wanted = Self.converted(query)
        return items.indices.filter { isMatch(items[$0], wanted, query["class"] as? String ?? "") }
    }

    private func refusal(_ dictionary: [String: Any]) -> OSStatus? {
        if let status = unknownAttribute(dictionary) { return status }
        guard let group = dictionary["agrp"] as? String, !groups.contains(group) else {
            return nil
        }
        return errSecMissingEntitlement
    }

    private func unknownAttribute(_ dictionary: [String: Any]) -> OSStatus? {
        guard let itemClass = dictionary["class"] as? String, let own = Self.own[itemClass] else {
            return errSecNoSuchClass
        }
        let common: Set = ["class", "sync", "agrp", "pdmn", "v_Data"]
        let isKnown = dictionary.keys.allSatisfy { common.contains($0) || own.contains($0) }
        return isKnown ? nil : errSecNoSuchAttr
    }

    /// The values in their stored form.
    private static func converted(_ dictionary: [String: Any]) -> Item {
        var item: Item = [:]
        for (name, value) in dictionary where name != "class" {
            item[name] = converted(name, value)
        }
        return item
    }

    private static func converted(_ name: String, _ value: Any) -> AnyHashable? {
        if name == "v_Data" { return (value as? Data).map { AnyHashable($0) } }
        if name == "sync" { return number(value) }
        if data.contains(name) {
            if let text = value as? String { return Data(text.utf8) }
            return (value as? Data).map { AnyHashable($0) }
        }
        if numbers.contains(name) { return number(value) }
        if let data = value as? Data { return data }
        return (value as? String).map { AnyHashable($0) }
    }

    private static func number(_ value: Any) -> AnyHashable? {
        if let text = value as? String {
            guard let number = Int32(text), String(number) == text else { return text }
            return AnyHashable(Int(number))
        }
        if let isTrue = value as? Bool { return AnyHashable(isTrue ? 1 : 0) }
        return (value as? Int).map { AnyHashable($0) }
    }

    private func isMatch(_ item: Item, _ wanted: Item, _ itemClass: String) -> Bool {
        guard item["class"] == AnyHashable(itemClass) else { return false }
        let sync = wanted["sync"] ?? AnyHashable(0)
        if sync != AnyHashable("syna"), item["sync"] != sync { return false }
        return wanted.allSatisfy { name, value in
            if name == "sync" || name == "v_Data" { return true }
            return item[name].map { Self.isEqual(name, $0, value) } ?? false
        }
    }

    private static func isSame(_ a: Item, _ b: Item) -> Bool {
        guard a["class"] == b["class"], a["sync"] == b["sync"], a["agrp"] == b["agrp"],
            let itemClass = a["class"]?.base as? String
        else { return false }
        return key[itemClass]?.allSatisfy { name, absent in
            isEqual(name, a[name] ?? absent, b[name] ?? absent)
        } ?? false
    }

    /// Hashing attributes compare bytes, the others values with their type.
    private static func isEqual(_ name: String, _ a: AnyHashable, _ b: AnyHashable) -> Bool {
        hashed.contains(name) ? bytes(a) == bytes(b) : a == b
    }

    private static func bytes(_ value: AnyHashable) -> Data {
        switch value.base {
        case let text as String: Data(text.utf8)
        case let data as Data: data
        default: Data("\(value)".utf8)
        }
    }
}
