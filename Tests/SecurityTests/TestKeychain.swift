// SPDX-License-Identifier: Apache-2.0
import CTestKeychain
import Foundation
import Security

/// The keychain of this test run, which CTestKeychain has chosen: embedded, in a folder of its own, of
/// a program with some groups.
enum TestKeychain {
    static let groups = TEST_KEYCHAIN_GROUPS.split(separator: ",").map(String.init)
}

/// A service that no other test uses.
func freshService() -> String {
    return UUID().uuidString
}

func add(_ attributes: [String: Any]) -> OSStatus {
    return SecItemAdd(attributes as CFDictionary, nil)
}

func copyMatching(_ query: [String: Any]) -> (status: OSStatus, result: CFTypeRef?) {
    var result: CFTypeRef?
    let status = SecItemCopyMatching(query as CFDictionary, &result)
    return (status, result)
}

func update(_ query: [String: Any], _ changes: [String: Any]) -> OSStatus {
    return SecItemUpdate(query as CFDictionary, changes as CFDictionary)
}

func delete(_ query: [String: Any]) -> OSStatus {
    return SecItemDelete(query as CFDictionary)
}

extension [String: Any] {
    func with(_ other: [String: Any]) -> [String: Any] { merging(other) { $1 } }
}

/// A generic password's dictionary with a secret.
func password(_ service: String, account: String = "joe") -> [String: Any] {
    [
        kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service,
        kSecAttrAccount as String: account, kSecValueData as String: Data("secret".utf8),
    ]
}

/// A query for generic passwords of a service.
func query(_ service: String) -> [String: Any] {
    [kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: service]
}
