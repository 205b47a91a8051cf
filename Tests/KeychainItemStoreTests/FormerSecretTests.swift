// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import KeychainModel
import KeychainSecrets
import Testing

@testable import KeychainItemStore

/// Secrets that others took the place of.
@Suite struct FormerSecretTests {
    private let keychain: TestKeychain
    private let item: ItemReference

    init() throws {
        keychain = try TestKeychain()
        item = try Self.add("first", to: keychain)
    }

    @discardableResult
    private static func add(_ text: String, to keychain: TestKeychain) throws -> ItemReference {
        var new = NewItem(.attributed)
        new.attributes = AttributedTests.pairs(["kind": text])
        new.attributes[.label] = .string("Label of " + text)
        return try keychain.add(new, text).reference
    }

    private func meant() -> ItemQuery {
        var query = ItemQuery(.attributed)
        query.references = [item]
        return query
    }

    private func replace(_ text: String?, _ change: ItemChange = ItemChange()) throws {
        try keychain.update(meant(), change, text)
    }

    private func former(
        in file: KeychainFile? = nil, _ generation: Int64? = nil
    ) throws -> [FormerSecret] {
        let file = file ?? keychain.file
        let found = try #require(
            try file.find(meant(), groups: [TestKeychain.group], keys: keychain.keys()).first)
        return try file.formerSecrets(
            of: found, generation: generation, try given(.decrypt, found), keys: keychain.keys())
    }

    private func texts(in file: KeychainFile? = nil) throws -> [String] {
        try former(in: file).map { former in
            let opened = try #require(try self.former(in: file, former.generation).first?.secret)
            return text(of: opened)
        }
    }

    @Test func `the last two secrets are kept, the latest first`() throws {
        #expect(try former().isEmpty)
        for text in ["second", "third", "fourth"] { try replace(text) }
        #expect(try texts() == ["third", "second"])
        #expect(try former().allSatisfy { $0.secret == nil && $0.label == "Label of first" })
        #expect(try keychain.open(try #require(try keychain.find(meant()).first)) == "fourth")
        #expect(try keychain.file.itemsWithFormerSecrets(atMost: 10) == [item])
    }

    @Test func `the label of then, the moment and the program are told`() throws {
        var change = ItemChange()
        change.attributes[.label] = .string("New label")
        let found = try keychain.find(meant())
        let before = Date().timeIntervalSinceReferenceDate
        _ = try keychain.file.update(
            found.map(\.meant), change, HeldSecret(secret("second")), keys: keychain.keys(),
            by: "exe:/usr/bin/mail"
        ) { grant(.decrypt, $0) }
        let former = try #require(try former().first)
        #expect(former.label == "Label of first" && former.program == "exe:/usr/bin/mail")
        #expect((before...before + 60).contains(former.replaced))
    }

    @Test func `other attributes and the same secret again keep none`() throws {
        var change = ItemChange()
        change.attributes[.label] = .string("New label")
        try replace(nil, change)
        try replace("first")
        #expect(try former().isEmpty)
        try replace("second")
        for _ in 0..<3 { try replace("second") }
        #expect(try texts() == ["first"])
    }

    @Test func `items of SecItem's classes keep none`() throws {
        try keychain.add(generic())
        try keychain.update(query(), ItemChange(), "another")
        #expect(try keychain.rows("SELECT * FROM former").isEmpty)
    }

    @Test func `they are deleted with their item, and no other's`() throws {
        let other = try Self.add("other", to: keychain)
        var query = ItemQuery(.attributed)
        query.references = [other]
        try keychain.update(query, ItemChange(), "another")
        try replace("second")
        try keychain.delete(meant())
        #expect(try keychain.file.itemsWithFormerSecrets(atMost: 10) == [other])
    }

    @Test func `after thirty days they are not told, and go with the next that is kept`() throws {
        try replace("second")
        try keychain.tamper("UPDATE former SET day = day - 30")
        #expect(try texts() == ["first"])
        try keychain.tamper("UPDATE former SET day = day - 1")
        #expect(try former().isEmpty)
        #expect(try former(1).isEmpty)
        #expect(try keychain.file.itemsWithFormerSecrets(atMost: 10).isEmpty)
        try replace("third")
        #expect(try texts() == ["second"])
        #expect(try keychain.rows("SELECT * FROM former").count == 1)
    }

    @Test func `a check that repairs removes old ones`() throws {
        try replace("second")
        try keychain.tamper("UPDATE former SET day = day - 31")
        #expect(try keychain.file.check(repair: false, keys: keychain.keys()).isClean)
        #expect(try keychain.rows("SELECT * FROM former").count == 1)
        #expect(try keychain.file.check(repair: true, keys: keychain.keys()).isClean)
        #expect(try keychain.rows("SELECT * FROM former").isEmpty)
    }

    @Test func `many old ones are removed in steps`() throws {
        try replace("second")
        try keychain.tamper(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
            INSERT INTO former (item, accessible, generation, day, note, attributes, secret)
            SELECT item, accessible, generation + i, day - 31, note, attributes, secret
            FROM former, n
            """)
        let first = FormerRow.firstDay(Date().timeIntervalSinceReferenceDate)
        let step = try keychain.file.writing {
            try FormerRow.removeNext(before: first, after: .min, $0)
        }
        #expect(step.count == FormerRow.removedAtOnce)
        #expect(try keychain.file.removeOldFormerSecrets() == 2500 - step.count)
        #expect(try texts() == ["first"])
    }

    @Test func `a large secret is kept too`() throws {
        let large = String(repeating: "x", count: 1 << 20)
        try replace(large)
        try replace("third")
        #expect(try texts() == [large, "first"])
    }

    @Test func `while the keychain is locked none opens, and nothing is in clear`() throws {
        try replace("second")
        let found = try #require(try keychain.find(meant()).first)
        #expect(throws: KeychainStoreError.locked) {
            try keychain.file.formerSecrets(
                of: found, generation: nil, try given(.decrypt, found), keys: keychain.keys(.locked)
            )
        }
        let row = try #require(try keychain.rows("SELECT * FROM former").first)
        for column in ["note", "attributes", "secret"] {
            let bytes: Data = row[column]
            #expect(bytes.range(of: Data("first".utf8)) == nil)
        }
    }

    @Test(arguments: ["note", "attributes", "secret"])
    func `one that was moved to another item or generation does not open`(
        _ column: String
    ) throws {
        try replace("second")
        try keychain.tamper("UPDATE former SET generation = generation + 7")
        #expect(try former().isEmpty)
        try keychain.tamper("UPDATE former SET generation = generation - 7")
        #expect(try texts() == ["first"])
        try keychain.tamper("UPDATE former SET \(column) = x'00'")
        if column == "secret" {
            #expect(throws: KeychainStoreError.corruptItem) { try former(1) }
        } else {
            #expect(try former().isEmpty)
        }
    }

    @Test func `a change that fails keeps none`() throws {
        let found = try keychain.find(meant())
        #expect(throws: KeychainStoreError.notGranted) {
            try keychain.file.update(
                found.map(\.meant), ItemChange(), HeldSecret(secret("second")),
                keys: keychain.keys()
            ) { _ in nil }
        }
        #expect(try former().isEmpty)
    }

    @Test func `a copy carries them, and they come back with it`() throws {
        try replace("second")
        let copy = keychain.folder + "/copy"
        try KeychainCopy.make(of: keychain.path, at: copy)
        try keychain.delete(meant())
        #expect(try keychain.rows("SELECT * FROM former").isEmpty)
        _ = try ReturningKeychain(
            copy, owner: TestKeychain.owner, deviceKey: keychain.deviceKey
        ).replace(keychain.file)
        #expect(try texts() == ["first"])
    }

    @Test func `a copy with more of them than its items can have does not come back`() throws {
        try replace("second")
        let copy = keychain.folder + "/copy"
        try KeychainCopy.make(of: keychain.path, at: copy)
        let queue = try DatabaseQueue(path: copy)
        for added in [1, 2] {
            try queue.write {
                try $0.execute(
                    sql: """
                        INSERT INTO former
                        (item, accessible, generation, day, note, attributes, secret)
                        SELECT item, accessible, generation + \(added), day, note, attributes,
                        secret FROM former
                        """)
            }
        }
        try queue.close()
        #expect(throws: KeychainStoreError.damaged) {
            _ = try ReturningKeychain(
                copy, owner: TestKeychain.owner, deviceKey: keychain.deviceKey)
        }
    }

    @Test func `a file of version 3 gets room for them`() throws {
        let path = keychain.folder + "/old.keychain"
        try KeychainCopy.make(of: keychain.path, at: path)
        let queue = try DatabaseQueue(path: path)
        try queue.write {
            try $0.execute(sql: "DROP TABLE former; PRAGMA user_version = 3")
        }
        try queue.close()
        let file = try KeychainFile.open(at: path, owner: TestKeychain.owner)
        #expect(try former(in: file).isEmpty)
        let found = try file.find(meant(), groups: [TestKeychain.group], keys: keychain.keys())
        _ = try file.update(
            found.map(\.meant), ItemChange(), HeldSecret(secret("second")), keys: keychain.keys()
        ) { grant(.decrypt, $0) }
        #expect(try texts(in: file) == ["first"])
        #expect(try file.check(repair: false, keys: keychain.keys()).isClean)
    }
}
