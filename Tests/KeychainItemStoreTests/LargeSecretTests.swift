// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import Testing

@testable import KeychainItemStore

/// Secrets too large to be read along with their item, which may change between the two steps.
@Suite struct LargeSecretTests {
    private func large(_ letter: String) -> String { String(repeating: letter, count: 10_000) }

    private func found() throws -> (TestKeychain, SealedItem) {
        let keychain = try TestKeychain()
        try keychain.add(generic(), large("a"))
        return (keychain, try keychain.find(query())[0])
    }

    @Test func `a secret that changed since its item was found is read as it is now`() throws {
        let (keychain, item) = try found()
        for text in [large("b"), "short"] {
            try keychain.update(query(), ItemChange(), text)
            #expect(try keychain.open(item) == text)
        }
    }

    @Test func `attributes and secret are of the same moment`() throws {
        let (keychain, item) = try found()
        var change = ItemChange()
        change.attributes = [.comment: .string("b")]
        try keychain.update(query(), change, large("b"))
        guard let given = grant(.decrypt, item) else { throw KeychainStoreError.notGranted }
        let opened = try keychain.file.open(item, given, keys: keychain.keys())
        #expect(opened.item.attributes[.comment] == .string("b"))
        #expect(opened.secret.map { text(of: $0) } == large("b"))
    }

    @Test func `an item that is no longer what was looked for has no secret`() throws {
        let (keychain, _) = try found()
        let item = try keychain.find(query(.genericPassword, [.account: .string("zoe")]))[0]
        var change = ItemChange()
        change.attributes = [.account: .string("another")]
        try keychain.update(query(), change)
        #expect(throws: KeychainStoreError.notFound) { _ = try keychain.open(item) }
    }

    @Test func `an item that was deleted since it was found has no secret`() throws {
        let (keychain, item) = try found()
        try keychain.delete(query())
        #expect(throws: KeychainStoreError.notFound) { _ = try keychain.open(item) }
    }

    @Test func `an item under other rights or in another group is not the one judged`() throws {
        var rights = ItemChange()
        rights.accessible = .afterFirstUnlock
        var group = ItemChange()
        group.accessGroup = "other"
        for change in [rights, group] {
            let (keychain, item) = try found()
            try keychain.update(query(), change)
            #expect(throws: KeychainStoreError.notFound) { _ = try keychain.open(item) }
        }
    }

    @Test func `a large secret that was damaged does not open`() throws {
        let (keychain, item) = try found()
        try keychain.tamper("UPDATE item SET secret = zeroblob(10100)")
        #expect(throws: KeychainStoreError.corruptItem) { _ = try keychain.open(item) }
    }
}
