// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import KeychainModel
import KeychainSecrets
import Testing

@testable import KeychainItemStore

/// A program that can write the file and has no key can damage rows, and do nothing else to them.
@Suite struct TamperTests {
    private func keychainOfTwo() throws -> TestKeychain {
        let keychain = try TestKeychain()
        try keychain.add(generic("mail", "one"), "secret one")
        try keychain.add(generic("mail", "two"), "secret two")
        return keychain
    }

    private func expectOnly(_ accounts: [String], _ keychain: TestKeychain) throws {
        let found = try keychain.find(query())
        #expect(found.map(\.account) == accounts)
        for item in found { #expect(try keychain.open(item) == "secret \(item.account)") }
        #expect(keychain.file.corruptItemCount == 2 - accounts.count)
        // Passed over, never thrown away.
        #expect(try keychain.file.itemCount() == 2)
    }

    @Test func `a flipped bit anywhere in the attributes hides the item`() throws {
        let keychain = try keychainOfTwo()
        let sealed = [UInt8](
            try keychain.rows("SELECT attributes FROM item WHERE id = 1")[0][0] as Data)
        for position in stride(from: 0, to: sealed.count, by: 11) {
            var changed = sealed
            changed[position] ^= 0x10
            try keychain.tamper("UPDATE item SET attributes = ? WHERE id = 1", [Data(changed)])
            #expect(try keychain.find(query()).map(\.account) == ["two"])
        }
        try expectOnly(["two"], keychain)
        try keychain.tamper("UPDATE item SET attributes = ? WHERE id = 1", [Data(sealed)])
        #expect(try keychain.find(query()).count == 2)
    }

    @Test func `a flipped bit anywhere in the secret keeps it closed`() throws {
        let keychain = try keychainOfTwo()
        let sealed = [UInt8](
            try keychain.rows("SELECT secret FROM item WHERE id = 1")[0][0] as Data)
        for position in stride(from: 0, to: sealed.count, by: 7) {
            var changed = sealed
            changed[position] ^= 1
            try keychain.tamper("UPDATE item SET secret = ? WHERE id = 1", [Data(changed)])
            let item = try keychain.find(query())[0]
            #expect(throws: KeychainStoreError.corruptItem) { _ = try keychain.open(item) }
        }
    }

    @Test(arguments: [
        "attributes = (SELECT attributes FROM item WHERE id = 2)",
        "attributes = substr(attributes, 1, length(attributes) - 1)",
        "attributes = CAST(attributes || x'00' AS BLOB)",
        "attributes = x''",
        // The wrapped key of one, the payload of the other.
        """
        attributes = CAST(substr((SELECT attributes FROM item WHERE id = 2), 1, 72)
            || substr(attributes, 73) AS BLOB)
        """,
        "identifier = randomblob(16)",
        "identifier = x'00'",
        "class = 2", "class = 9", "class = -1", "class = 4294967297",
        "accessible = 1", "accessible = 3", "accessible = 2", "accessible = 77",
        "generation = 2", "generation = -1",
        // Without its secret an item is another one.
        "secret = NULL",
    ])
    func `a row that was changed is no item`(_ change: String) throws {
        let keychain = try keychainOfTwo()
        try keychain.tamper("UPDATE item SET \(change) WHERE id = 1")
        try expectOnly(["two"], keychain)
    }

    @Test(arguments: [
        "secret = (SELECT secret FROM item WHERE id = 2)",
        "secret = attributes",
        "secret = x''",
        """
        secret = CAST(substr((SELECT secret FROM item WHERE id = 2), 1, 72)
            || substr(secret, 73) AS BLOB)
        """,
    ])
    func `a secret that was changed does not open`(_ change: String) throws {
        let keychain = try keychainOfTwo()
        try keychain.tamper("UPDATE item SET \(change) WHERE id = 1")
        let found = try keychain.find(query())
        #expect(found.map(\.account) == ["one", "two"])
        #expect(throws: KeychainStoreError.corruptItem) { _ = try keychain.open(found[0]) }
        #expect(try keychain.open(found[1]) == "secret two")
    }

    @Test func `two rows that changed places are no items`() throws {
        let keychain = try keychainOfTwo()
        try keychain.tamper(
            """
            UPDATE item SET identifier = x'01' WHERE id = 1;
            CREATE TEMP TABLE old AS SELECT * FROM item;
            UPDATE item SET identifier = x'02' WHERE id = 2;
            """)
        #expect(try keychain.find(query()).isEmpty)
        #expect(keychain.file.corruptItemCount == 2)
    }

    @Test func `an old secret beside new attributes does not open`() throws {
        let keychain = try keychainOfTwo()
        let old = [UInt8](
            try keychain.rows("SELECT secret FROM item WHERE id = 1")[0][0] as Data)
        let search = query(.genericPassword, [.account: .string("one")])
        try keychain.update(search, ItemChange(), "secret one, changed")
        try keychain.tamper("UPDATE item SET secret = ? WHERE id = 1", [Data(old)])
        let item = try #require(try keychain.find(search).first)
        #expect(throws: KeychainStoreError.corruptItem) { _ = try keychain.open(item) }
    }

    @Test func `an item of another keychain is none here`() throws {
        let first = try keychainOfTwo()
        let second = try keychainOfTwo()
        let row = try second.rows(
            "SELECT identifier, generation, attributes, secret FROM item WHERE id = 1")[0]
        try first.tamper(
            """
            UPDATE item SET identifier = ?, generation = ?, attributes = ?, secret = ? WHERE id = 1
            """,
            [row[0] as Data, row[1] as Int, row[2] as Data, row[3] as Data])
        try expectOnly(["two"], first)
    }

    @Test func `an index entry that points elsewhere finds nothing wrong`() throws {
        let keychain = try keychainOfTwo()
        try keychain.tamper("UPDATE OR IGNORE token SET item = 2 WHERE item = 1")
        let search = query(.genericPassword, [.account: .string("one")])
        #expect(try keychain.find(search).isEmpty)
        try keychain.tamper("UPDATE token SET item = item + 100")
        #expect(try keychain.find(query()).isEmpty)
        #expect(try keychain.file.itemCount() == 2)
    }

    @Test func `a damaged item is left out of a change and stays`() throws {
        let keychain = try keychainOfTwo()
        try keychain.tamper("UPDATE item SET secret = zeroblob(150) WHERE id = 1")
        var change = ItemChange()
        change.attributes[.label] = .string("L")
        #expect(try keychain.update(query(), change) == 1)
        #expect(try keychain.file.itemCount() == 2)
        #expect(keychain.file.corruptItemCount == 1)
        // A new secret makes it whole.
        #expect(try keychain.update(query(), change, "new") == 2)
        for item in try keychain.find(query()) { #expect(try keychain.open(item) == "new") }
    }
}
