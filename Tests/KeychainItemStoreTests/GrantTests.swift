// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import Testing

@testable import KeychainItemStore

/// The store opens, writes and deletes with the right grant for the very item only.
@Suite struct GrantTests {
    private func two() throws -> (TestKeychain, SealedItem, SealedItem) {
        let keychain = try TestKeychain()
        try keychain.add(generic("mail", "one"))
        try keychain.add(generic("mail", "two"))
        let found = try keychain.find(query())
        return (keychain, found[0], found[1])
    }

    @Test func `a grant for another item opens nothing`() throws {
        let (keychain, one, two) = try two()
        #expect(throws: KeychainStoreError.grantMismatch) {
            _ = try keychain.file.open(one, given(.decrypt, two), keys: keychain.keys())
        }
    }

    @Test func `a grant for another operation opens nothing`() throws {
        let (keychain, one, _) = try two()
        for operation in [ItemOperation.encrypt, .delete] {
            #expect(throws: KeychainStoreError.grantMismatch) {
                _ = try keychain.file.open(one, given(operation, one), keys: keychain.keys())
            }
        }
    }

    @Test func `a grant under rights that the item no longer has opens nothing`() throws {
        let (keychain, one, _) = try two()
        var change = ItemChange()
        change.accessControl = ItemAccessControl(
            protection: .whenUnlocked, operations: [.decrypt: .userPresence],
            defaultOperation: .always)
        try keychain.update(query(.genericPassword, [.account: .string("one")]), change)
        let now = try keychain.find(query())[0]
        #expect(throws: KeychainStoreError.grantMismatch) {
            _ = try keychain.file.open(now, given(.decrypt, one), keys: keychain.keys())
        }
    }

    @Test func `changing, deleting and adding need grants of their own`() throws {
        let (keychain, one, _) = try two()
        for operation in [ItemOperation.encrypt, .delete] {
            #expect(throws: KeychainStoreError.grantMismatch) {
                _ = try keychain.file.update([one.meant], ItemChange(), nil, keys: keychain.keys())
                {
                    grant(operation, $0)
                }
            }
        }
        #expect(throws: KeychainStoreError.grantMismatch) {
            _ = try keychain.file.delete(
                query(), groups: [TestKeychain.group], keys: keychain.keys(),
                mayDeleteUnread: true
            ) { grant(.decrypt, $0) }
        }
        let new = SealedItem.new(generic(), in: TestKeychain.group, .plain(.always))
        #expect(throws: KeychainStoreError.grantMismatch) {
            _ = try keychain.file.add(new, nil, given(.decrypt, new), keys: keychain.keys())
        }
        #expect(try keychain.find(query()).map(\.generation) == [1, 1])
    }
}
