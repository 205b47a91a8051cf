// SPDX-License-Identifier: Apache-2.0
import Foundation
import Security

/// The keychain of this test run: embedded, in a folder of its own, of a program with some groups.
enum TestKeychain {
    static let groups = [
        "first.group", "second.group", "strange.group", "model.group", "model.other",
    ]

    /// Must be touched before the first call of a test, as the choice is made once in a process.
    static let isReady: Bool = {
        if ProcessInfo.processInfo.environment["KEYCHAIN_HOME"] != nil { return true }
        let home = NSTemporaryDirectory() + "keychain-security-" + UUID().uuidString
        setenv("KEYCHAIN_ACCESS_GROUPS", groups.joined(separator: ","), 1)
        setenv("KEYCHAIN_HOME", home, 1)
        atexit { removeTestKeychain() }
        return true
    }()
}

private func removeTestKeychain() {
    guard let home = ProcessInfo.processInfo.environment["KEYCHAIN_HOME"] else { return }
    try? FileManager.default.removeItem(atPath: home)
}

/// A service that no other test uses.
func freshService() -> String {
    precondition(TestKeychain.isReady)
    return UUID().uuidString
}

func add(_ attributes: [String: Any]) -> OSStatus {
    precondition(TestKeychain.isReady)
    return SecItemAdd(attributes as CFDictionary, nil)
}

func copyMatching(_ query: [String: Any]) -> (status: OSStatus, result: CFTypeRef?) {
    precondition(TestKeychain.isReady)
    var result: CFTypeRef?
    let status = SecItemCopyMatching(query as CFDictionary, &result)
    return (status, result)
}

func update(_ query: [String: Any], _ changes: [String: Any]) -> OSStatus {
    precondition(TestKeychain.isReady)
    return SecItemUpdate(query as CFDictionary, changes as CFDictionary)
}

func delete(_ query: [String: Any]) -> OSStatus {
    precondition(TestKeychain.isReady)
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
