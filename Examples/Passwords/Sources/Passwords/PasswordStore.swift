// SPDX-License-Identifier: Apache-2.0
import Foundation
import Security

/// A program's passwords for one service: the same source on Apple's platforms and on Linux.
public struct PasswordStore: Sendable {
    public let service: String

    public init(service: String) { self.service = service }

    /// Keeps the password, in place of the one that may be there.
    public func set(_ password: String, for account: String) throws {
        var item = query(account)
        item[kSecValueData as String] = Data(password.utf8)
        item[kSecAttrAccessible as String] = kSecAttrAccessibleWhenUnlocked
        var status = SecItemAdd(item as CFDictionary, nil)
        if status == errSecDuplicateItem {
            let change = [kSecValueData as String: Data(password.utf8)]
            status = SecItemUpdate(query(account) as CFDictionary, change as CFDictionary)
        }
        try PasswordError.check(status)
    }

    /// nil where there is none.
    public func password(for account: String) throws -> String? {
        var query = query(account)
        query[kSecReturnData as String] = true
        query[kSecMatchLimit as String] = kSecMatchLimitOne
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        if status == errSecItemNotFound { return nil }
        try PasswordError.check(status)
        guard let data = result as? Data, let password = String(data: data, encoding: .utf8) else {
            throw PasswordError(status: errSecDecode)
        }
        return password
    }

    public func accounts() throws -> [String] {
        var query = query(nil)
        query[kSecReturnAttributes as String] = true
        query[kSecMatchLimit as String] = kSecMatchLimitAll
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        if status == errSecItemNotFound { return [] }
        try PasswordError.check(status)
        let items = result as? [[String: Any]] ?? []
        return items.compactMap { $0[kSecAttrAccount as String] as? String }.sorted()
    }

    /// Says whether there was one.
    public func remove(_ account: String) throws -> Bool {
        let status = SecItemDelete(query(account) as CFDictionary)
        if status == errSecItemNotFound { return false }
        try PasswordError.check(status)
        return true
    }

    private func query(_ account: String?) -> [String: Any] {
        var query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
        ]
        if let account { query[kSecAttrAccount as String] = account }
        return query
    }
}
