// SPDX-License-Identifier: Apache-2.0
import GRDB
import KeychainModel
import Testing

@testable import KeychainItemStore

@Suite struct DeleteTests {
    @Test func `every item that is meant goes, with its index entries`() throws {
        let keychain = try TestKeychain()
        for account in ["one", "two", "three"] { try keychain.add(generic("mail", account)) }
        try keychain.add(generic("post", "four"))
        var search = query(.genericPassword, [.service: .string("mail")])
        search.limit = 1
        #expect(try keychain.delete(search) == 3)
        #expect(try keychain.find(query()).map(\.account) == ["four"])
        let dangling = try keychain.rows(
            "SELECT token FROM token WHERE item NOT IN (SELECT id FROM item)")
        #expect(dangling.isEmpty)
        #expect(throws: KeychainStoreError.notFound) { try keychain.delete(search) }
    }

    @Test func `another group's items stay`() throws {
        let keychain = try TestKeychain()
        let theirs = try keychain.add(generic(), group: "other").reference
        #expect(throws: KeychainStoreError.notFound) { try keychain.delete(query()) }
        var search = query()
        search.references = [theirs]
        #expect(throws: KeychainStoreError.notFound) { try keychain.delete(search) }
        #expect(try keychain.file.itemCount() == 1)
    }

    @Test func `a refused grant deletes nothing`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic("mail", "one"))
        try keychain.add(generic("mail", "two"))
        #expect(throws: KeychainStoreError.notGranted) {
            try keychain.file.delete(
                query(), groups: [TestKeychain.group], keys: keychain.keys(), mayDeleteUnread: true
            ) { $0.account == "one" ? grant(.delete, $0) : nil }
        }
        #expect(try keychain.file.itemCount() == 2)
    }

    @Test func `an item whose class is locked can be deleted by what the index knows`() throws {
        let keychain = try TestKeychain()
        let reference = try keychain.add(generic("mail", "one")).reference
        try keychain.add(generic("mail", "two"))
        try keychain.add(generic("post", "three"))
        try keychain.add(generic("mail", "theirs"), group: "other")
        let both: Attributes = [.service: .string("mail"), .account: .string("two")]
        #expect(throws: KeychainStoreError.locked) {
            try keychain.delete(
                query(.genericPassword, both), state: .locked, mayDeleteUnread: false)
        }
        #expect(try keychain.delete(query(.genericPassword, both), state: .locked) == 1)
        #expect(
            try keychain.delete(
                query(.genericPassword, [.service: .string("post")]), state: .locked) == 1)
        var search = query()
        search.references = [reference]
        #expect(throws: KeychainStoreError.notFound) {
            try keychain.delete(search, groups: ["other"], state: .locked)
        }
        #expect(try keychain.delete(search, state: .locked) == 1)
        #expect(try keychain.find(query(), groups: ["other"]).map(\.account) == ["theirs"])
    }

    @Test func `what the index does not know of a locked item is not guessed`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic("mail", "one"))
        var folded = query(.genericPassword, [.service: .string("MAIL")])
        folded.folding = .caseInsensitive
        for search in [
            query(.genericPassword, [.comment: .string("x")]),
            query(.genericPassword, [.service: .string("mail"), .creator: .number(1)]), folded,
        ] {
            #expect(throws: KeychainStoreError.locked) {
                try keychain.delete(search, state: .locked)
            }
        }
        #expect(throws: KeychainStoreError.notFound) {
            try keychain.delete(
                query(.genericPassword, [.service: .string("post")]), state: .locked)
        }
        #expect(try keychain.file.itemCount() == 1)
    }

    @Test func `before the first unlock nothing closed can be deleted`() throws {
        let keychain = try TestKeychain()
        let reference = try keychain.add(generic("mail", "one")).reference
        try keychain.add(generic("mail", "two", accessible: .always))
        var byReference = query()
        byReference.references = [reference]
        for search in [query(), byReference] {
            #expect(throws: KeychainStoreError.locked) {
                try keychain.delete(search, state: .beforeFirstUnlock)
            }
        }
        var open = query()
        open.accessible = .always
        #expect(try keychain.delete(open, state: .beforeFirstUnlock) == 1)
    }

    @Test func `a damaged item can be deleted by what the index knows`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic("mail", "one"))
        try keychain.tamper("UPDATE item SET attributes = zeroblob(200)")
        #expect(throws: KeychainStoreError.notFound) {
            try keychain.delete(query(.genericPassword, [.comment: .string("x")]))
        }
        #expect(try keychain.file.itemCount() == 1)
        #expect(try keychain.delete(query(.genericPassword, [.service: .string("mail")])) == 1)
        #expect(keychain.file.corruptItemCount == 0)
    }
}
