// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainModel
import KeychainSecrets
import Testing

@testable import KeychainItemStore

@Suite struct CreationTests {
    private func mode(_ path: String) throws -> Int {
        let facts = try FileManager.default.attributesOfItem(atPath: path)
        return try #require(facts[.posixPermissions] as? NSNumber).intValue
    }

    private func create(_ path: String, _ owner: KeychainOwner = TestKeychain.owner) throws {
        try KeychainFile.create(
            at: path, owner: owner, deviceKey: SealingKey.random(),
            password: HeldSecret(secret("pw")), deviceSecret: nil, cost: TestKeychain.cost)
    }

    @Test func `a keychain and its log are its owner's alone`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic())
        #expect(try mode(keychain.path) == 0o600)
        #expect(try mode(keychain.path + "-wal") == 0o600)
        #expect(try mode(keychain.path + "-shm") == 0o600)
    }

    @Test func `creation leaves nothing but the keychain`() throws {
        let folder = try TestKeychain.newFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try create(folder + "/login.keychain")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder) == ["login.keychain"])
    }

    @Test func `whatever is at the path already stays`() throws {
        let folder = try TestKeychain.newFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for content in [Data(), Data("not a keychain".utf8)] {
            let path = folder + "/login.keychain"
            try content.write(to: URL(fileURLWithPath: path))
            #expect(throws: KeychainStoreError.alreadyExists) { try create(path) }
            #expect(throws: KeychainStoreError.damaged) {
                try KeychainFile.open(at: path, owner: TestKeychain.owner)
            }
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == content)
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: folder)
                    .filter { $0.hasPrefix(".") } == [])
        }
    }

    @Test func `of many who create the same keychain at once one succeeds`() throws {
        let folder = try TestKeychain.newFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let successes = Tally()
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            if (try? create(folder + "/login.keychain")) != nil { successes.add() }
        }
        #expect(successes.count == 1)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder) == ["login.keychain"])
    }

    @Test func `a keychain opens for its owner only`() throws {
        let keychain = try TestKeychain()
        let others = [
            KeychainOwner(user: 4712, account: "zoë"), KeychainOwner(user: 4711, account: "zoe"),
            // The same letters in another normalisation are another name.
            KeychainOwner(user: 4711, account: "zoe\u{308}"),
        ]
        for other in others {
            #expect(throws: KeychainStoreError.belongsToAnother) {
                try KeychainFile.open(at: keychain.path, owner: other)
            }
        }
    }

    @Test func `a keychain that was given another owner's name opens no key`() throws {
        let keychain = try TestKeychain()
        let thief = KeychainOwner(user: 1, account: "thief")
        try edit(keychain.path) { try Keybag.write(.owner, thief.bytes, $0) }
        let file = try KeychainFile.open(at: keychain.path, owner: thief)
        #expect(throws: KeychainStoreError.wrongPassword) {
            _ = try file.unlock(
                password: secret(TestKeychain.password), deviceSecret: nil)
        }
        #expect(throws: KeychainStoreError.wrongDeviceKey) {
            _ = try file.alwaysKeys(deviceKey: keychain.deviceKey)
        }
    }

    @Test func `nothing is made where no keychain is`() throws {
        let folder = try TestKeychain.newFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(throws: KeychainStoreError.noSuchFile) {
            try KeychainFile.open(at: folder + "/login.keychain", owner: TestKeychain.owner)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
    }

    @Test func `writes are on the disk before they are acknowledged`() throws {
        let keychain = try TestKeychain()
        #expect(try keychain.file.writing { try number("PRAGMA synchronous", $0) } == 2)
        #expect(try keychain.file.reading { try text("PRAGMA journal_mode", $0) } == "wal")
        #expect(try keychain.file.writing { try number("PRAGMA secure_delete", $0) } == 1)
    }

    @Test func `two files never have the same identifier or keys`() throws {
        let first = try TestKeychain()
        let second = try TestKeychain()
        #expect(first.file.identifier.count == 16)
        #expect(first.file.identifier != second.file.identifier)
        #expect(first.keys().bytes(.whenUnlocked) != second.keys().bytes(.whenUnlocked))
    }

    @Test func `each class has a key of its own`() throws {
        let keys = try TestKeychain().keys()
        var seen: Set<[UInt8]> = []
        for accessible in Accessibility.allCases {
            seen.insert(keys.bytes(accessible) ?? [])
        }
        for family in IndexFamily.allCases {
            seen.insert(keys.bytes(family) ?? [])
        }
        #expect(seen.allSatisfy { $0.count == SealingKey.byteCount })
        #expect(seen.count == Accessibility.allCases.count + IndexFamily.allCases.count)
    }
}
