// SPDX-License-Identifier: Apache-2.0
import LocalAuthentication
import Secrets
import Security

/// A guest's own module and type of that name.
public enum Keychain {
    public static func store(_ secret: Secret, for account: String) -> OSStatus {
        var item = query(account)
        item[kSecValueData as String] = Data(secret.text.utf8)
        return SecItemAdd(item as CFDictionary, nil)
    }

    public static func secret(for account: String) -> Secret? {
        var query = query(account)
        query[kSecReturnData as String] = true
        query[kSecUseAuthenticationContext as String] = LAContext()
        var found: CFTypeRef?
        guard SecItemCopyMatching(query as CFDictionary, &found) == errSecSuccess,
            let data = found as? Data
        else { return nil }
        return Secret(String(decoding: data, as: UTF8.self))
    }

    private static func query(_ account: String) -> [String: Any] {
        [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: "guest", kSecAttrAccount as String: account,
        ]
    }
}
