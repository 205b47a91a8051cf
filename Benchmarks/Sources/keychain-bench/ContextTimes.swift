// SPDX-License-Identifier: Apache-2.0
import LocalAuthentication
import Security

/// Reads of an item that asks for its user's presence, in a context where it was shown once; and
/// of one that asks for nothing.
enum ContextTimes {
    private static let count = 10_000
    private static let service = "bench-context"

    /// Asks its user once, and never again.
    static func measure() throws {
        try add("plain", rights: nil)
        try add(
            "presence",
            rights: SecAccessControlCreateWithFlags(
                nil, kSecAttrAccessibleWhenUnlocked, .userPresence, nil))
        let context = LAContext()
        try read("presence", context)
        context.interactionNotAllowed = true
        try Measurement.inTurns("read, no flags", "read, proven before", count: count) {
            try $0 ? read("presence", context) : read("plain", nil)
        }.forEach { $0.report() }
    }

    private static func item(_ account: String) -> [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecAttrAccount as String: account,
        ]
    }

    private static func add(_ account: String, rights: SecAccessControl?) throws {
        var new = item(account)
        new[kSecValueData as String] = Data("a secret of 24 bytes ...".utf8)
        if let rights { new[kSecAttrAccessControl as String] = rights }
        let status = SecItemAdd(new as CFDictionary, nil)
        if status != errSecDuplicateItem { try check(status) }
    }

    private static func read(_ account: String, _ context: LAContext?) throws {
        var search = item(account)
        search[kSecReturnData as String] = true
        if let context { search[kSecUseAuthenticationContext as String] = context }
        var result: CFTypeRef?
        try check(SecItemCopyMatching(search as CFDictionary, &result))
        guard (result as? Data)?.count == 24 else { throw Status(code: errSecDecode) }
    }
}
