// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import KeychainSecrets
import Testing

@testable import KeychainItemStore

@Suite struct ApplicationPasswordTests {
    private static func password(_ text: String) -> SecretBytes {
        SecretBytes(copying: Array(text.utf8))
    }

    private let rights = ItemAccessControl(
        protection: .whenUnlocked, operations: [:], defaultOperation: .always,
        needsApplicationPassword: true)

    @Test func `the item opens with its password and no other, and not without one`() throws {
        let keychain = try TestKeychain()
        var keys = keychain.keys()
        keys.applicationKey = try keychain.file.applicationKey(Self.password("right"))
        var item = NewItem(.genericPassword)
        item.attributes = [.account: .string("me")]
        item.accessControl = rights
        let new = SealedItem.new(item, in: "mine", rights)
        _ = try keychain.file.add(
            new, HeldSecret(Self.password("s3cret")), given(.encrypt, new), keys: keys)

        let found = try #require(
            keychain.file.find(ItemQuery(.genericPassword), groups: ["mine"], keys: keys).first)
        let opened = try keychain.file.open(found, given(.decrypt, found), keys: keys)
        #expect(opened.secret.map(text(of:)) == "s3cret")

        keys.applicationKey = try keychain.file.applicationKey(Self.password("wrong"))
        #expect(throws: KeychainStoreError.wrongApplicationPassword) {
            _ = try keychain.file.open(found, given(.decrypt, found), keys: keys)
        }
        keys.applicationKey = nil
        #expect(throws: KeychainStoreError.needsApplicationPassword) {
            _ = try keychain.file.open(found, given(.decrypt, found), keys: keys)
        }
    }

    @Test func `a password means something else to another keychain`() throws {
        let one = try TestKeychain()
        let other = try TestKeychain()
        let password = Self.password("same")
        let a = try one.file.applicationKey(password)
        let b = try other.file.applicationKey(password)
        let areEqual = a.bytes.matches(b.bytes)
        #expect(!areEqual)
        let again = try one.file.applicationKey(password)
        let isSame = a.bytes.matches(again.bytes)
        #expect(isSame)
    }
}
