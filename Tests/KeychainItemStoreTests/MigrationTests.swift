// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import KeychainModel
import Testing

@testable import KeychainItemStore

/// Files of an older version: brought up to date once, and kept as they were.
@Suite struct MigrationTests {
    private let keychain: TestKeychain
    private let path: String

    /// A file as version 1 wrote it: the same without a quarantine.
    init() throws {
        keychain = try TestKeychain()
        for number in 0..<20 { try keychain.add(generic("mail", "account \(number)")) }
        path = keychain.folder + "/old.keychain"
        try KeychainCopy.make(of: keychain.path, at: path)
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction {
            try $0.execute(
                sql: "DROP TABLE quarantine; PRAGMA user_version = 1; PRAGMA journal_mode = WAL")
        }
        try queue.close()
    }

    private func version(_ path: String) throws -> Int32? {
        let queue = try DatabaseQueue(path: path)
        return try queue.read { try Int32.fetchOne($0, sql: "PRAGMA user_version") }
    }

    @Test func `an older file opens with all its items, and is kept as it was`() throws {
        let file = try KeychainFile.open(at: path, owner: TestKeychain.owner)
        let found = try file.find(query(), groups: [TestKeychain.group], keys: keychain.keys())
        #expect(found.map(\.account) == (try keychain.find(query()).map(\.account)))
        #expect(try file.check(repair: false, keys: keychain.keys()).isClean)
        #expect(try version(path) == KeychainSchema.version)
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

    @Test func `somebody else's older file stays as it is`() throws {
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
