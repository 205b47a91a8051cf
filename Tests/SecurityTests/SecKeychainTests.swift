// SPDX-License-Identifier: Apache-2.0
import Foundation
import Security
import Testing

/// Keychains with passwords of their own, by the calls of old.
@Suite struct SecKeychainTests {
    private let name = "kc-" + UUID().uuidString + ".keychain"

    init() { precondition(TestKeychain.isReady) }

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

    @Test func `a name is given once, and one that is nobody's is told`() {
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

    @Test func `calls that name no keychain search the default one`() throws {
        var list: CFArray?
        #expect(SecKeychainCopySearchList(&list) == errSecSuccess)
        var byDefault: SecKeychain?
        #expect(SecKeychainCopyDefault(&byDefault) == errSecSuccess)
        #expect(list as? [SecKeychain] == [try #require(byDefault)])
    }
}
