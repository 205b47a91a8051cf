// SPDX-License-Identifier: Apache-2.0
import Security

/// Reads, adds, updates and deletes of single items in a keychain of a given size.
struct ItemTimes {
    let mode: String
    let size: Int

    private static let service = "bench"
    private static let mostAtOnce = 100_000

    static func fill(to size: Int) throws {
        for index in 0..<size { try add("item-\(index)", service: service) }
    }

    func measure() throws {
        let facts: [String: Any] = ["mode": mode, "items": size]
        try Measurement("read", count: 2_000) { index in
            try Self.read(item: index, of: size)
        }.report(facts)
        try Measurement("add", count: 200) { index in
            try Self.add("new-\(index)-\(UInt64.random(in: 0...UInt64.max))", service: "added")
        }.report(facts)
        try Measurement("update", count: 100) { index in
            let query = Self.query("item-\((index * 104_729) % size)") as CFDictionary
            let change = [kSecAttrComment as String: "\(index)"] as CFDictionary
            try check(SecItemUpdate(query, change))
        }.report(facts)
        // As many are there afterwards as before: what the additions above added goes again.
        var added = try Self.accounts(of: "added")
        try Measurement("delete", count: added.count * 10 / 11) { _ in
            var query = Self.query(added.removeLast())
            query[kSecAttrService as String] = "added"
            try check(SecItemDelete(query as CFDictionary))
        }.report(facts)
        // More than these would measure the memory that the program has.
        guard size <= Self.mostAtOnce else { return }
        try Measurement("attributes of all", count: 5) { _ in
            guard try Self.all(of: Self.service).count == size else {
                throw Status(code: errSecItemNotFound)
            }
        }.report(facts)
    }

    private static func accounts(of service: String) throws -> [String] {
        try all(of: service).compactMap {
            ($0 as? [String: Any])?[kSecAttrAccount as String] as? String
        }
    }

    private static func all(of service: String) throws -> NSArray {
        let search: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecMatchLimit as String: kSecMatchLimitAll,
            kSecReturnAttributes as String: true,
        ]
        var result: CFTypeRef?
        try check(SecItemCopyMatching(search as CFDictionary, &result))
        return result as? NSArray ?? []
    }

    private static func query(_ account: String) -> [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecAttrAccount as String: account,
        ]
    }

    static func add(_ account: String, service: String) throws {
        var item = query(account)
        item[kSecAttrService as String] = service
        item[kSecValueData as String] = Data("a secret of 24 bytes ...".utf8)
        try check(SecItemAdd(item as CFDictionary, nil))
    }

    /// Neighbours in time are none in the file.
    static func read(item index: Int, of size: Int) throws {
        try read("item-\(index * 7919 % size)")
    }

    /// What the program itself does for a read, before the keychain hears of it.
    static func makeSearch(item index: Int, of size: Int) {
        withExtendedLifetime(search("item-\(index * 7919 % size)")) {}
    }

    private static func search(_ account: String) -> CFDictionary {
        var search = query(account)
        search[kSecReturnData as String] = true
        return search as CFDictionary
    }

    static func read(_ account: String) throws {
        var result: CFTypeRef?
        try check(SecItemCopyMatching(search(account), &result))
        guard (result as? Data)?.count == 24 else { throw Status(code: errSecDecode) }
    }
}

struct Status: Error { let code: OSStatus }

func check(_ code: OSStatus) throws {
    guard code == errSecSuccess else { throw Status(code: code) }
}
