// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import KeychainModel
import KeychainSecrets
import Testing

@testable import KeychainItemStore

/// A look at every record: what is damaged is told, set aside and never lost.
@Suite struct IntegrityTests {
    private let keychain: TestKeychain

    init() throws {
        keychain = try TestKeychain()
        for number in 0..<150 { try keychain.add(generic("mail", "account \(number)")) }
    }

    private func check(
        repair: Bool = false, _ state: TestKeychain.State = .unlocked
    ) throws -> KeychainFindings {
        try keychain.file.check(repair: repair, keys: keychain.keys(state))
    }

    private func found(_ account: String) throws -> [String] {
        try keychain.find(query(.genericPassword, [.account: .string(account)])).map(\.account)
    }

    @Test func `an untouched keychain is whole`() throws {
        var expected = KeychainFindings()
        expected.whole = 150
        #expect(try check() == expected)
        #expect(expected.isClean)
    }

    @Test func `what is locked is looked at from outside`() throws {
        try keychain.tamper("UPDATE item SET attributes = x'00' WHERE id = 7")
        let report = try check(.locked)
        #expect((report.sealed, report.damaged, report.whole) == (149, 1, 0))
    }

    @Test(arguments: [
        "attributes = zeroblob(length(attributes))", "secret = zeroblob(length(secret))",
        "secret = NULL", "generation = generation + 1", "accessible = 1", "accessible = 77",
        "class = 9", "identifier = x'00'",
        "secret = (SELECT secret FROM item WHERE id = 8)",
    ])
    func `a damaged record is set aside, and the rest stays usable`(_ change: String) throws {
        try keychain.tamper("UPDATE item SET \(change) WHERE id = 7")
        let before = try keychain.rows("SELECT * FROM item WHERE id = 7")[0]
        #expect(try check().damaged == 1)
        #expect(try check(repair: true).damaged == 1)
        let after = try check()
        #expect(after.isClean)
        #expect((after.whole, after.quarantined) == (149, 1))
        let kept = try keychain.rows("SELECT * FROM quarantine")[0]
        for column in ["identifier", "class", "accessible", "generation", "attributes", "secret"] {
            #expect(kept[column] as DatabaseValue == before[column], "\(column)")
        }
        #expect(try keychain.find(query()).count == 149)
        #expect(try found("account 7") == ["account 7"])
        try keychain.add(generic("mail", "account 6"))
        #expect(try found("account 6") == ["account 6"])
    }

    @Test func `a look alone changes nothing`() throws {
        try keychain.tamper("UPDATE item SET generation = 9 WHERE id = 7")
        try keychain.tamper("DELETE FROM token WHERE item = 8")
        let before = try keychain.rows("SELECT * FROM item").description
        _ = try check()
        #expect(try keychain.rows("SELECT * FROM item").description == before)
        #expect(try keychain.rows("SELECT * FROM quarantine").isEmpty)
    }

    @Test func `a record that searches would miss is found again`() throws {
        try keychain.tamper(
            """
            DELETE FROM token WHERE item = 7;
            INSERT INTO token SELECT token + 1, item FROM token WHERE item = 9 LIMIT 2;
            UPDATE item SET keyIndex = randomblob(16) WHERE id = 11;
            """)
        #expect(try found("account 6").isEmpty)
        let findings = try check(repair: true)
        #expect((findings.misindexed, findings.strayEntries) == (2, 2))
        #expect(try check().isClean)
        #expect(try found("account 6") == ["account 6"])
        #expect(throws: KeychainStoreError.duplicate) {
            try keychain.add(generic("mail", "account 10"))
        }
    }

    @Test(arguments: ["x'00'", "zeroblob(8)", "zeroblob(80)"])
    func `a list of entries that is wrong is put right`(_ list: String) throws {
        try keychain.tamper("UPDATE item SET tokens = \(list) WHERE id = 7")
        #expect(try check().misindexed == 1)
        #expect(try check(repair: true).misindexed == 1)
        #expect(try check().isClean)
        #expect(try found("account 6") == ["account 6"])
        #expect(try keychain.delete(query()) == 150)
        #expect(try keychain.rows("SELECT * FROM token").isEmpty)
    }

    @Test func `while it is locked, a damaged list takes no item out of the index`() throws {
        try keychain.tamper("UPDATE item SET tokens = x'00' WHERE id = 7")
        _ = try check(repair: true, .locked)
        #expect(try found("account 6") == ["account 6"])
    }

    @Test func `index entries of nothing are removed`() throws {
        try keychain.tamper("INSERT INTO token VALUES (1, 4711), (2, 4711)")
        #expect(try check(repair: true).strayEntries == 2)
        #expect(try check().isClean)
    }

    @Test func `a second record under the same key is set aside`() throws {
        try keychain.tamper(
            """
            INSERT INTO item
            (identifier, class, accessible, generation, keyIndex, tokens, attributes)
            SELECT randomblob(16), class, accessible, generation, randomblob(16), tokens, attributes
            FROM item WHERE id = 7
            """)
        #expect(try check(repair: true).damaged == 1)
        #expect(try check().whole == 150)
    }

    @Test func `an item in the way of a new one is set aside, not deleted`() throws {
        try keychain.tamper("UPDATE item SET secret = zeroblob(length(secret)) WHERE id = 7")
        try keychain.add(generic("mail", "account 6"), "new")
        #expect(try check().quarantined == 1)
        #expect(try check().whole == 150)
    }

    @Test func `tables that are not ours are told`() throws {
        try keychain.tamper("CREATE TRIGGER spy AFTER INSERT ON item BEGIN SELECT 1; END")
        let report = try check(repair: true)
        #expect(!report.isStructureWhole)
        #expect(!report.isClean)
    }

    @Test func `an item under an application password is no damage`() throws {
        let rights = ItemAccessControl(
            protection: .whenUnlocked, operations: [:], defaultOperation: .always,
            needsApplicationPassword: true)
        var item = generic("mail", "app")
        item.accessControl = rights
        let new = SealedItem.new(item, in: TestKeychain.group, rights)
        var keys = keychain.keys()
        keys.applicationKey = try keychain.file.applicationKey(secret("open"))
        _ = try keychain.file.add(
            new, HeldSecret(secret("x")), try given(.encrypt, new), keys: keys)
        let report = try check()
        #expect((report.sealed, report.damaged) == (1, 0))
    }
}
