// SPDX-License-Identifier: Apache-2.0
import Foundation
import Security
import Testing

/// Keychains with passwords of their own, by the calls of old. One of them locks all that there are.
@Suite(.serialized) struct SecKeychainTests {
    private let name = "kc-" + UUID().uuidString + ".keychain"

    private func create(_ password: String = "open sesame") -> (OSStatus, SecKeychain?) {
        var keychain: SecKeychain?
        let status = SecKeychainCreate(
            name, UInt32(password.utf8.count), password, false, nil, &keychain)
        return (status, keychain)
    }

    private func unlock(_ keychain: SecKeychain?, _ password: String) -> OSStatus {
        SecKeychainUnlock(keychain, UInt32(password.utf8.count), password, true)
    }

    private func status(_ keychain: SecKeychain?) -> SecKeychainStatus? {
        var status: SecKeychainStatus = 0
        return SecKeychainGetStatus(keychain, &status) == errSecSuccess ? status : nil
    }

    @Test func `a keychain is open when it is made, closes, and opens with its password`() throws {
        let (made, keychain) = create()
        #expect(made == errSecSuccess)
        let own = try #require(keychain)
        let open = kSecUnlockStateStatus | kSecReadPermStatus | kSecWritePermStatus
        #expect(status(own) == open)
        #expect(SecKeychainLock(own) == errSecSuccess)
        #expect(status(own) == kSecReadPermStatus | kSecWritePermStatus)
        #expect(SecKeychainUnlock(own, 0, nil, false) == errSecInteractionNotAllowed)
        #expect(unlock(own, "wrong") == errSecAuthFailed)
        #expect(status(own) == kSecReadPermStatus | kSecWritePermStatus)
        #expect(unlock(own, "open sesame") == errSecSuccess)
        #expect(status(own) == open)
        #expect(SecKeychainUnlock(own, 0, nil, false) == errSecSuccess)
        #expect(SecKeychainLockAll() == errSecSuccess)
        #expect(status(own) == kSecReadPermStatus | kSecWritePermStatus)
    }

    @Test func `a name is given once, and one that no keychain has is told`() {
        #expect(create().0 == errSecSuccess)
        #expect(create().0 == errSecDuplicateKeychain)
        var none: SecKeychain?
        #expect(SecKeychainOpen("nobody-s.keychain", &none) == errSecSuccess)
        #expect(status(none) == nil)
        #expect(SecKeychainLock(none) == errSecNoSuchKeychain)
        #expect(unlock(none, "x") == errSecNoSuchKeychain)
    }

    @Test func `nothing is made without a password, by a dialog or under a bad name`() {
        var keychain: SecKeychain?
        #expect(SecKeychainCreate(name, 0, nil, false, nil, &keychain) == errSecParam)
        #expect(SecKeychainCreate(name, 1, "x", true, nil, &keychain) == errSecUnimplemented)
        #expect(SecKeychainCreate("..", 1, "x", false, nil, &keychain) == errSecParam)
        let long = String(repeating: "x", count: 2000)
        #expect(SecKeychainCreate(name, 2000, long, false, nil, &keychain) == errSecParam)
        #expect(keychain == nil)
    }

    // Other suites of this process use the default keychain: it stays what it is.

    private func opened(_ path: String) throws -> SecKeychain {
        var keychain: SecKeychain?
        #expect(SecKeychainOpen(path, &keychain) == errSecSuccess)
        return try #require(keychain)
    }

    @Test func `the default keychain is searched, and can be set to what exists only`() throws {
        var list: CFArray?
        #expect(SecKeychainCopySearchList(&list) == errSecSuccess)
        var byDefault: SecKeychain?
        #expect(SecKeychainCopyDefault(&byDefault) == errSecSuccess)
        let login = try opened("login.keychain-db")
        #expect(byDefault == login)
        #expect((list as? [SecKeychain])?.contains(login) == true)
        #expect(SecKeychainSetDefault(try opened("nobody-s.keychain")) == errSecNoSuchKeychain)
        #expect(SecKeychainSetDefault(try opened("System.keychain")) == errSecNoSuchKeychain)
        #expect(SecKeychainSetDefault(login) == errSecSuccess)
        #expect(SecKeychainSetSearchList(["login"] as NSArray) == errSecParam)
        #expect(SecKeychainSetSearchList([login, login] as NSArray) == errSecSuccess)
        #expect(SecKeychainCopySearchList(&list) == errSecSuccess)
        #expect(list as? [SecKeychain] == [login])
    }

    @Test func `a keychain's path is written where there is room for it`() throws {
        let own = try #require(create().1)
        var length: UInt32 = 0
        var buffer = [CChar](repeating: 1, count: 4096)
        #expect(SecKeychainGetPath(own, &length, &buffer) == errSecBufferTooSmall)
        #expect(buffer[0] == 1)
        #expect(SecKeychainGetPath(own, &length, &buffer) == errSecBufferTooSmall)
        length += 1
        #expect(SecKeychainGetPath(own, &length, &buffer) == errSecSuccess)
        let path = String(
            decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        #expect(path.utf8.count == Int(length))
        #expect((path as NSString).lastPathComponent == name)
        length = 4096
        let none = try opened("nobody-s.keychain")
        #expect(SecKeychainGetPath(none, &length, &buffer) == errSecNoSuchKeychain)
    }

    @Test func `no keychain locks by itself where no daemon is there to do it`() throws {
        let own = try #require(create().1)
        var settings = SecKeychainSettings()
        settings.lockInterval = 5
        #expect(SecKeychainCopySettings(own, &settings) == errSecSuccess)
        #expect(!settings.useLockInterval && settings.lockInterval == UInt32(Int32.max))
        settings.lockOnSleep = true
        settings.useLockInterval = true
        settings.lockInterval = 60
        #expect(SecKeychainSetSettings(own, &settings) == errSecUnimplemented)
        settings.version = 2
        #expect(SecKeychainSetSettings(own, &settings) == errSecParam)
    }

    private func item(_ account: String) -> [CFString: Any] {
        [
            kSecClass: kSecClassGenericPassword, kSecAttrService: "several",
            kSecAttrAccount: account,
        ]
    }

    private func read(_ query: [CFString: Any]) -> (OSStatus, [Data]) {
        var query = query
        query[kSecReturnData] = true
        query[kSecMatchLimit] = 5
        var result: CFTypeRef?
        let status = SecItemCopyMatching(query as CFDictionary, &result)
        return (status, result as? [Data] ?? [])
    }

    @Test func `an item goes into the keychain that is used, and is found where one looks`() throws
    {
        let one = try #require(create().1)
        var other: SecKeychain?
        let another = "kc-" + UUID().uuidString
        #expect(SecKeychainCreate(another, 1, "x", false, nil, &other) == errSecSuccess)
        let two = try #require(other)
        let account = UUID().uuidString
        for (keychain, text) in [(one, "1"), (two, "2")] {
            var new = item(account)
            new[kSecUseKeychain] = keychain
            new[kSecValueData] = Data(text.utf8)
            #expect(SecItemAdd(new as CFDictionary, nil) == errSecSuccess)
            #expect(SecItemAdd(new as CFDictionary, nil) == errSecDuplicateItem)
        }
        #expect(read(item(account)).0 == errSecItemNotFound)
        var query = item(account)
        query[kSecMatchSearchList] = [two, one, two]
        #expect(read(query).1 == [Data("2".utf8), Data("1".utf8)])
        query[kSecMatchSearchList] = [one]
        #expect(read(query).1 == [Data("1".utf8)])
        query[kSecMatchSearchList] = [one, try opened("nobody-s")]
        #expect(read(query).0 == errSecNoSuchKeychain)
        query[kSecUseKeychain] = two
        #expect(read(query).0 == errSecParam)
        query[kSecMatchSearchList] = nil
        #expect(read(query).1 == [Data("2".utf8)])
        query[kSecUseKeychain] = "login"
        #expect(read(query).0 == errSecParam)
    }

    @Test func `references lead into whichever keychain an item is in`() throws {
        let own = try #require(create().1)
        var new = item(UUID().uuidString)
        new[kSecUseKeychain] = own
        new[kSecValueData] = Data("far".utf8)
        new[kSecReturnRef] = true
        new[kSecReturnPersistentRef] = true
        var result: CFTypeRef?
        #expect(SecItemAdd(new as CFDictionary, &result) == errSecSuccess)
        let added = try #require(result as? [CFString: Any])
        let reference = try #require(added[kSecValueRef] as? SecKeychainItem)
        var found: SecKeychain?
        #expect(SecKeychainItemCopyKeychain(reference, &found) == errSecSuccess)
        #expect(found == own)
        let persistent = try #require(added[kSecValuePersistentRef] as? Data)
        for query: [CFString: Any] in [
            [kSecValueRef: reference], [kSecValuePersistentRef: persistent],
            [kSecClass: kSecClassGenericPassword, kSecMatchItemList: [persistent, reference]],
        ] {
            #expect(read(query).1 == [Data("far".utf8)])
        }
        let change = [kSecValueData: Data("changed".utf8)] as CFDictionary
        #expect(
            SecItemUpdate([kSecValuePersistentRef: persistent] as CFDictionary, change)
                == errSecSuccess)
        #expect(read([kSecValueRef: reference]).1 == [Data("changed".utf8)])
        #expect(SecItemDelete([kSecValueRef: reference] as CFDictionary) == errSecSuccess)
        #expect(read([kSecValuePersistentRef: persistent]).0 == errSecItemNotFound)
    }
}
