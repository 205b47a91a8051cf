// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import KeychainDatabase
import KeychainModel
import KeychainRows
import Testing

@testable import KeychainItemStore

/// Files of an older version: brought up to date once, and kept as they were.
@Suite struct MigrationTests {
    private let keychain: TestKeychain
    private let path: String

    /// A file as version 1 wrote it: the same as version 2's, without a quarantine.
    init() throws {
        keychain = try TestKeychain()
        for number in 0..<20 { try keychain.add(generic("mail", "account \(number)")) }
        path = keychain.folder + "/old.keychain"
        try KeychainCopy.make(of: keychain.path, at: path)
        try makeOlder("DROP TABLE quarantine; PRAGMA user_version = 1; PRAGMA journal_mode = WAL")
    }

    /// As version 2 wrote it, and what makes a version before that of it.
    private func makeOlder(_ then: String) throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../Crash/older.sql")
        let older = try String(contentsOf: script, encoding: .utf8)
        try edit(path) { try $0.execute(older + then) }
    }

    private func version(_ path: String) throws -> Int32? {
        let queue = try DatabaseQueue(path: path)
        return try queue.read { try Int32.fetchOne($0, sql: "PRAGMA user_version") }
    }

    @Test func `a file of version 2 opens with every item under each of its entries`() throws {
        try FileManager.default.removeItem(atPath: path)
        try keychain.add(generic("mail", "always", accessible: .always))
        try KeychainCopy.make(of: keychain.path, at: path)
        try makeOlder("PRAGMA journal_mode = WAL")
        let file = try KeychainFile.open(at: path, owner: TestKeychain.owner)
        let keys = keychain.keys()
        for account in ["account 7", "always"] {
            let search = query(.genericPassword, [.account: .string(account)])
            let found = try file.find(search, groups: [TestKeychain.group], keys: keys)
            #expect(found.map(\.account) == [account])
        }
        let findings = try file.check(repair: false, keys: keys)
        #expect(findings.isClean && findings.whole == 21)
        // Before the first unlock the closed items are known by their class alone.
        #expect(throws: KeychainStoreError.locked) {
            try file.find(
                query(), groups: [TestKeychain.group], keys: keychain.keys(.beforeFirstUnlock))
        }
        #expect(
            try file.delete(
                query(), groups: [TestKeychain.group], keys: keys, mayDeleteUnread: true
            ) { grant(.delete, $0) } == 21)
        #expect(try file.reading { try $0.count("token") } == 0)
    }

    @Test func `an older file with a table or an index of no version does not come back`() throws {
        for object in ["CREATE INDEX other ON item (generation)", "CREATE VIEW v AS SELECT 1"] {
            try edit(path) { try $0.execute(object) }
            #expect(throws: KeychainStoreError.damaged) {
                _ = try ReturningKeychain(
                    path, owner: TestKeychain.owner, deviceKey: keychain.deviceKey)
            }
        }
    }

    @Test func `an older file opens with all its items, and is kept as it was`() throws {
        let file = try KeychainFile.open(at: path, owner: TestKeychain.owner)
        let found = try file.find(query(), groups: [TestKeychain.group], keys: keychain.keys())
        #expect(found.map(\.account) == (try keychain.find(query()).map(\.account)))
        #expect(try file.check(repair: false, keys: keychain.keys()).isClean)
        #expect(try version(path) == KeychainTables.version)
        let kept = KeychainGenerations(of: path).all
        #expect(kept.count == 1)
        #expect(try version(kept[0].path) == 1)
    }

    @Test func `a second opening changes nothing`() throws {
        for _ in 0..<3 { _ = try KeychainFile.open(at: path, owner: TestKeychain.owner) }
        #expect(KeychainGenerations(of: path).all.count == 1)
    }

    @Test func `programs that open it at the same moment migrate it once`() async throws {
        let path = path
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try KeychainFile.open(at: path, owner: TestKeychain.owner).itemCount()
                }
            }
            for try await count in group { #expect(count == 20) }
        }
        #expect(KeychainGenerations(of: path).all.count == 1)
    }

    @Test func `another user's older file stays as it is`() throws {
        let before = try rawBytes(path)
        #expect(throws: KeychainStoreError.belongsToAnother) {
            try KeychainFile.open(at: path, owner: KeychainOwner(user: 1, account: "zoë"))
        }
        #expect(try rawBytes(path) == before)
        #expect(KeychainGenerations(of: path).all.isEmpty)
    }

    @Test func `without room for the old file nothing is migrated`() throws {
        // A folder in the place of the copy's name.
        try FileManager.default.createDirectory(
            atPath: path + ".generation-1", withIntermediateDirectories: false)
        #expect(throws: KeychainStoreError.alreadyExists) {
            try KeychainFile.open(at: path, owner: TestKeychain.owner)
        }
        #expect(try version(path) == 1)
    }

    @Test func `a file that can't be migrated leaves each earlier state`() throws {
        let generations = KeychainGenerations(of: path)
        for _ in 1...3 { try generations.keep() }
        try edit(path) { try $0.execute("DELETE FROM keybag WHERE name LIKE 'protector:%'") }
        for _ in 1...4 {
            #expect(throws: KeychainStoreError.damaged) {
                try KeychainFile.open(at: path, owner: TestKeychain.owner)
            }
        }
        #expect(generations.all.map(\.number) == [3, 2, 1])
    }

    @Test func `an older generation comes back up to date`() throws {
        let file = try KeychainFile.open(at: path, owner: TestKeychain.owner)
        let old = KeychainGenerations(of: path).all[0]
        _ = try ReturningKeychain(
            old.path, owner: TestKeychain.owner, deviceKey: keychain.deviceKey
        ).replace(file)
        #expect(try file.itemCount() == 20)
        #expect(try file.check(repair: false, keys: keychain.keys()).isClean)
    }
}
