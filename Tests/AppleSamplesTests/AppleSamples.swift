// SPDX-License-Identifier: Apache-2.0
// swift-format-ignore-file
import Foundation
import Security

// The way in which Apple's articles on the keychain write these calls, line for line. That it
// compiles here, in Swift 5 and 6, is half of the test.

struct Credentials: Equatable {
    var username: String
    var password: String
}

enum KeychainError: Error {
    case noPassword
    case unexpectedPasswordData
    case unhandledError(status: OSStatus)
}

/// "Adding a password to the keychain".
func addCredentials(_ credentials: Credentials, server: String) throws {
    let account = credentials.username
    let password = credentials.password.data(using: String.Encoding.utf8)!
    let query: [String: Any] = [kSecClass as String: kSecClassInternetPassword,
                                kSecAttrAccount as String: account,
                                kSecAttrServer as String: server,
                                kSecValueData as String: password]

    let status = SecItemAdd(query as CFDictionary, nil)
    guard status == errSecSuccess else { throw KeychainError.unhandledError(status: status) }
}

/// "Searching for keychain items".
func findCredentials(server: String) throws -> Credentials {
    let query: [String: Any] = [kSecClass as String: kSecClassInternetPassword,
                                kSecAttrServer as String: server,
                                kSecMatchLimit as String: kSecMatchLimitOne,
                                kSecReturnAttributes as String: true,
                                kSecReturnData as String: true]

    var item: CFTypeRef?
    let status = SecItemCopyMatching(query as CFDictionary, &item)
    guard status != errSecItemNotFound else { throw KeychainError.noPassword }
    guard status == errSecSuccess else { throw KeychainError.unhandledError(status: status) }

    guard let existingItem = item as? [String : Any],
        let passwordData = existingItem[kSecValueData as String] as? Data,
        let password = String(data: passwordData, encoding: String.Encoding.utf8),
        let account = existingItem[kSecAttrAccount as String] as? String
    else {
        throw KeychainError.unexpectedPasswordData
    }
    return Credentials(username: account, password: password)
}

/// "Updating and deleting keychain items".
func updateCredentials(_ credentials: Credentials, server: String) throws {
    let query: [String: Any] = [kSecClass as String: kSecClassInternetPassword,
                                kSecAttrServer as String: server]
    let account = credentials.username
    let password = credentials.password.data(using: String.Encoding.utf8)!
    let attributes: [String: Any] = [kSecAttrAccount as String: account,
                                     kSecValueData as String: password]

    let status = SecItemUpdate(query as CFDictionary, attributes as CFDictionary)
    guard status != errSecItemNotFound else { throw KeychainError.noPassword }
    guard status == errSecSuccess else { throw KeychainError.unhandledError(status: status) }
}

func deleteCredentials(server: String) throws {
    let query: [String: Any] = [kSecClass as String: kSecClassInternetPassword,
                                kSecAttrServer as String: server]
    let status = SecItemDelete(query as CFDictionary)
    guard status == errSecSuccess || status == errSecItemNotFound else { throw KeychainError.unhandledError(status: status) }
}

/// "Restricting keychain item accessibility".
func addUnlockedCredentials(_ credentials: Credentials, server: String) throws {
    let account = credentials.username
    let password = credentials.password.data(using: String.Encoding.utf8)!
    var query: [String: Any] = [kSecClass as String: kSecClassInternetPassword,
                                kSecAttrAccount as String: account,
                                kSecAttrServer as String: server,
                                kSecValueData as String: password]
    query[kSecAttrAccessible as String] = kSecAttrAccessibleWhenUnlocked
    let status = SecItemAdd(query as CFDictionary, nil)
    guard status == errSecSuccess else { throw KeychainError.unhandledError(status: status) }
}

/// "Accessing keychain items with Face ID or Touch ID".
func addGuardedCredentials(_ credentials: Credentials, server: String) throws {
    let access = SecAccessControlCreateWithFlags(nil, // Use the default allocator.
                                                 kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly,
                                                 .userPresence,
                                                 nil) // Ignore any error.
    let account = credentials.username
    let password = credentials.password.data(using: String.Encoding.utf8)!
    let query: [String: Any] = [kSecClass as String: kSecClassInternetPassword,
                                kSecAttrAccount as String: account,
                                kSecAttrServer as String: server,
                                kSecAttrAccessControl as String: access as Any,
                                kSecValueData as String: password]
    let status = SecItemAdd(query as CFDictionary, nil)
    guard status == errSecSuccess else { throw KeychainError.unhandledError(status: status) }
}

func readGuardedCredentials(server: String) throws -> Credentials {
    let query: [String: Any] = [kSecClass as String: kSecClassInternetPassword,
                                kSecAttrServer as String: server,
                                kSecMatchLimit as String: kSecMatchLimitOne,
                                kSecReturnAttributes as String: true,
                                kSecUseOperationPrompt as String: "Access your password on the keychain",
                                kSecReturnData as String: true]

    var item: CFTypeRef?
    let status = SecItemCopyMatching(query as CFDictionary, &item)
    guard status == errSecSuccess else { throw KeychainError.unhandledError(status: status) }

    guard let existingItem = item as? [String: Any],
        let passwordData = existingItem[kSecValueData as String] as? Data,
        let password = String(data: passwordData, encoding: String.Encoding.utf8),
        let account = existingItem[kSecAttrAccount as String] as? String
        else {
            throw KeychainError.unexpectedPasswordData
    }
    return Credentials(username: account, password: password)
}

/// "Searching for keychain items", more than one: references first, then what is wanted of them.
func copyPasswords(server: String) throws -> [Data] {
    let query: [String: Any] = [kSecClass as String: kSecClassInternetPassword,
                                kSecAttrServer as String: server,
                                kSecMatchLimit as String: kSecMatchLimitAll,
                                kSecReturnPersistentRef as String: true]
    var items: CFTypeRef?
    let status = SecItemCopyMatching(query as CFDictionary, &items)
    guard status == errSecSuccess, let references = items as? [Data] else { throw KeychainError.unhandledError(status: status) }
    return try references.map { reference in
        var data: CFTypeRef?
        let status = SecItemCopyMatching([kSecValuePersistentRef as String: reference,
                                          kSecReturnData as String: true] as CFDictionary, &data)
        guard status == errSecSuccess else { throw KeychainError.unhandledError(status: status) }
        return data as! Data
    }
}

/// Other ways in which such code is written.
func copyData(service: String) -> Data? {
    let query = [
        kSecClass: kSecClassGenericPassword,
        kSecAttrService: service,
        kSecReturnData: kCFBooleanTrue!,
        kSecMatchLimit: kSecMatchLimitOne,
    ] as CFDictionary
    var result: AnyObject?
    let status = withUnsafeMutablePointer(to: &result) {
        SecItemCopyMatching(query, UnsafeMutablePointer($0))
    }
    guard status == noErr else { return nil }
    return (result as! CFData) as Data
}

func makeAccessControl() throws -> SecAccessControl {
    var error: Unmanaged<CFError>?
    guard let accessControl = SecAccessControlCreateWithFlags(
        kCFAllocatorDefault, kSecAttrAccessibleWhenUnlocked, [.biometryAny, .or, .devicePasscode],
        &error)
    else {
        throw error!.takeRetainedValue() as Error
    }
    return accessControl
}

func message(for status: OSStatus) -> String {
    SecCopyErrorMessageString(status, nil) as String? ?? "Unknown error"
}

func addGeneratedPassword(service: String) -> String? {
    guard let password = SecCreateSharedWebCredentialPassword() as String? else { return nil }
    var item = [String: AnyObject]()
    item[kSecClass as String] = kSecClassGenericPassword
    item[kSecAttrService as String] = service as AnyObject?
    item[kSecValueData as String] = password.data(using: .utf8) as AnyObject?
    let status: OSStatus = autoreleasepool { SecItemAdd(item as CFDictionary, nil) }
    return status == errSecSuccess ? password : nil
}

func makeSalt() -> Data? {
    var salt = Data(count: 16)
    let status = salt.withUnsafeMutableBytes {
        SecRandomCopyBytes(kSecRandomDefault, $0.count, $0.baseAddress!)
    }
    return status == errSecSuccess ? salt : nil
}
