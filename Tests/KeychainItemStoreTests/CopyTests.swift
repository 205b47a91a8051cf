// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainDatabase
import KeychainLinuxSystem
import GRDB
import KeychainModel
import KeychainSecrets
import Synchronization
import Testing

@testable import KeychainItemStore

/// Copies, generations and what comes back from them.
@Suite struct CopyTests {
    private let keychain: TestKeychain
    private var copy: String { keychain.folder + "/copy" }

    init() throws {
        keychain = try TestKeychain()
        for number in 0..<20 { try keychain.add(generic("mail", "account \(number)")) }
    }

    private func accounts() throws -> [String] { try keychain.find(query()).map(\.account) }

    private func restore(_ path: String) throws -> KeychainGenerations.Generation {
        try ReturningKeychain(path, owner: TestKeychain.owner, deviceKey: keychain.deviceKey)
            .replace(keychain.file)
    }

    @Test func `a copy opens with the same keys and has the same items`() throws {
        try KeychainCopy.make(of: keychain.path, at: copy)
        let file = try KeychainFile.open(at: copy, owner: TestKeychain.owner)
        let found = try file.find(query(), groups: [TestKeychain.group], keys: keychain.keys())
        #expect(found.map(\.account) == (try accounts()))
        #expect(found.map(\.reference) == (try keychain.find(query()).map(\.reference)))
        let attributes = try FileManager.default.attributesOfItem(atPath: copy)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }

    @Test func `a copy replaces nothing and leaves nothing beside it`() throws {
        try Data([1]).write(to: URL(fileURLWithPath: copy))
        #expect(throws: KeychainStoreError.alreadyExists) {
            try KeychainCopy.make(of: keychain.path, at: copy)
        }
        #expect(try rawBytes(copy) == [1])
        let names = try FileManager.default.contentsOfDirectory(atPath: keychain.folder)
        #expect(names.allSatisfy { !$0.hasPrefix(".") })
    }

    @Test func `a copy made while others write is of one moment`() async throws {
        let stop = Mutex(false)
        let keychain = keychain
        async let writing: Void = Task.detached {
            var number = 0
            while !stop.withLock({ $0 }) {
                try keychain.add(generic("first", "\(number)"))
                try keychain.add(generic("second", "\(number)"))
                number += 1
            }
        }.value
        for number in 0..<8 {
            let path = "\(copy)-\(number)"
            try KeychainCopy.make(of: keychain.path, at: path)
            let file = try KeychainFile.open(at: path, owner: TestKeychain.owner)
            let report = try file.check(repair: false, keys: keychain.keys())
            #expect(report.isClean)
            func count(_ service: String) throws -> Int {
                try file.find(
                    query(.genericPassword, [.service: .string(service)]),
                    groups: [TestKeychain.group], keys: keychain.keys()
                ).count
            }
            let difference = try count("first") - count("second")
            #expect((0...1).contains(difference))
        }
        stop.withLock { $0 = true }
        try await writing
    }

    @Test func `a damaged keychain gives no copy`() throws {
        keychain.file.flush()
        var content = try rawBytes(keychain.path)
        content.replaceSubrange(2 * 4096..<4 * 4096, with: [UInt8](repeating: 7, count: 2 * 4096))
        let broken = keychain.folder + "/broken.keychain"
        try Data(content).write(to: URL(fileURLWithPath: broken))
        #expect(throws: KeychainStoreError.damaged) {
            try KeychainCopy.make(of: broken, at: copy)
        }
        #expect(!FileManager.default.fileExists(atPath: copy))
    }

    // MARK: Generations

    @Test func `three generations are kept, and their numbers rise`() throws {
        let generations = KeychainGenerations(of: keychain.path)
        #expect(generations.all.isEmpty)
        for _ in 0..<5 { try generations.keep() }
        #expect(generations.all.map(\.number) == [5, 4, 3, 2, 1])
        generations.prune()
        #expect(generations.all.map(\.number) == [5, 4, 3])
    }

    @Test func `a generation is made a day after the last, where something changed`() throws {
        let generations = KeychainGenerations(of: keychain.path)
        #expect(try generations.keepIfDue()?.number == 1)
        #expect(try generations.keepIfDue() == nil)
        let tomorrow = WallClock.now + .seconds(25 * 60 * 60)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: 1)],
            ofItemAtPath: generations.all[0].path)
        #expect(try generations.keepIfDue(now: tomorrow) == nil)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -1)],
            ofItemAtPath: generations.all[0].path)
        try keychain.add(generic("mail", "another"))
        #expect(try generations.keepIfDue(now: tomorrow)?.number == 2)
    }

    @Test func `what changes while a generation is made comes into the next`() async throws {
        let keychain = keychain
        // Copying it takes longer than adding an item.
        try keychain.tamper(
            "INSERT INTO quarantine (moved, secret) VALUES (1, zeroblob(30000000))")
        let generations = KeychainGenerations(of: keychain.path)
        let making = Task.detached { try generations.keep() }
        func isBegun() -> Bool {
            FolderNames.all(in: keychain.folder).contains { name in
                name == "login.keychain.generation-1"
                    || FileStatus("\(keychain.folder)/\(name)/new") != nil
            }
        }
        while !isBegun() { await Task.yield() }
        try keychain.add(generic("mail", "meanwhile"))
        let made = try await making.value.made
        let changes = [keychain.path, keychain.path + "-wal"].compactMap {
            FileStatus($0)?.changed
        }
        #expect(changes.contains { $0 >= made })
        let tomorrow = WallClock.now + .seconds(25 * 60 * 60)
        #expect(try generations.keepIfDue(now: tomorrow)?.number == 2)
    }

    @Test func `names that only look like a generation are none`() throws {
        let beyond = ["\(Int.max)", "\(Int(Int32.max) + 1)", "99999999999999999999"]
        for name in ["0", "-1", "07", "x", "1.bak", ""] + beyond {
            try Data().write(to: URL(fileURLWithPath: "\(keychain.path).generation-\(name)"))
        }
        #expect(KeychainGenerations(of: keychain.path).all.isEmpty)
    }

    @Test func `behind the last number no generation is kept, and nothing ends`() throws {
        let last = "\(keychain.path).generation-\(Int32.max)"
        try Data().write(to: URL(fileURLWithPath: last))
        #expect(throws: KeychainStoreError.tooLarge) {
            try KeychainGenerations(of: keychain.path).keep()
        }
    }

    // MARK: Coming back

    @Test func `what was deleted is there again, under the same references`() throws {
        let before = try keychain.find(query())
        try KeychainCopy.make(of: keychain.path, at: copy)
        try keychain.delete(query())
        try keychain.add(generic("mail", "later"))
        let kept = try restore(copy)
        #expect(try keychain.find(query()).map(\.reference) == before.map(\.reference))
        for item in try keychain.find(query()) { #expect(try keychain.open(item) == "s3cret") }
        // And what was replaced can be had back in the same way.
        _ = try restore(kept.path)
        #expect(try accounts() == ["later"])
    }

    @Test func `a restore that fails leaves each earlier state, and works once it can`() throws {
        let generations = KeychainGenerations(of: keychain.path)
        for number in 1...3 {
            try generations.keep()
            try keychain.add(generic("mail", "later \(number)"))
        }
        let oldest = generations.all[2]
        let broken = try ReturningKeychain(
            oldest.path, owner: TestKeychain.owner, deviceKey: keychain.deviceKey)
        let names = try FileManager.default.contentsOfDirectory(atPath: keychain.folder)
        let file = try #require(names.first { $0.contains(".returning-") })
        try edit(keychain.folder + "/" + file) { try $0.execute("DROP TABLE former") }
        for _ in 1...4 {
            #expect(throws: KeychainStoreError.damaged) { _ = try broken.replace(keychain.file) }
        }
        #expect(generations.all.map(\.number) == [3, 2, 1])
        #expect(try accounts().count == 23)
        #expect(try restore(oldest.path).number == 4)
        #expect(try accounts().count == 20)
        #expect(generations.all.map(\.number) == [4, 3, 2])
    }

    @Test func `a keychain open elsewhere sees the restored one at once`() throws {
        let other = try KeychainFile.open(at: keychain.path, owner: TestKeychain.owner)
        _ = try other.find(query(), groups: [TestKeychain.group], keys: keychain.keys())
        try KeychainCopy.make(of: keychain.path, at: copy)
        try keychain.add(generic("mail", "later"))
        _ = try restore(copy)
        let found = try other.find(query(), groups: [TestKeychain.group], keys: keychain.keys())
        #expect(found.count == 20)
    }

    @Test func `nothing is written for a keychain that another has replaced`() throws {
        let stranger = try TestKeychain()
        try stranger.add(generic("mail", "stranger"))
        try KeychainCopy.make(of: stranger.path, at: copy)
        _ = try ReturningKeychain(
            copy, owner: TestKeychain.owner, deviceKey: stranger.deviceKey
        ).replace(keychain.file)
        #expect(throws: KeychainStoreError.busy) { try keychain.add(generic("mail", "lost")) }
        let file = try KeychainFile.open(at: keychain.path, owner: TestKeychain.owner)
        let found = try file.find(query(), groups: [TestKeychain.group], keys: stranger.keys())
        #expect(found.map(\.account) == ["stranger"])
    }

    @Test func `another owner's keychain does not come back`() throws {
        try KeychainCopy.make(of: keychain.path, at: copy)
        for owner in [
            KeychainOwner(user: 4712, account: "zoë"), KeychainOwner(user: 4711, account: "zoe"),
        ] {
            #expect(throws: KeychainStoreError.belongsToAnother) {
                _ = try ReturningKeychain(copy, owner: owner, deviceKey: keychain.deviceKey)
            }
        }
    }

    @Test(arguments: [
        ("PRAGMA user_version = 999", KeychainStoreError.newerVersion),
        ("PRAGMA user_version = 0", .damaged), ("PRAGMA application_id = 1", .damaged),
        ("CREATE VIEW spy AS SELECT 1", .damaged),
        ("CREATE TRIGGER spy AFTER INSERT ON item BEGIN SELECT 1; END", .damaged),
        ("UPDATE item SET attributes = zeroblob(9000000) WHERE id = 3", .damaged),
        ("UPDATE item SET secret = zeroblob(70000000) WHERE id = 3", .damaged),
        ("INSERT INTO quarantine (moved, secret) VALUES (1, zeroblob(70000000))", .damaged),
        ("INSERT INTO quarantine (moved, attributes) VALUES (1, zeroblob(9000000))", .damaged),
        ("UPDATE keybag SET value = zeroblob(70000) WHERE name = 'always'", .damaged),
        ("UPDATE item SET identifier = zeroblob(65) WHERE id = 3", .damaged),
        ("UPDATE item SET keyIndex = zeroblob(65) WHERE id = 3", .damaged),
        ("UPDATE item SET tokens = zeroblob(20488) WHERE id = 3", .damaged),
        ("INSERT INTO keybag VALUES (hex(zeroblob(40)), x'00')", .damaged),
        ("INSERT INTO quarantine (moved, identifier) VALUES (0, zeroblob(65))", .damaged),
        ("INSERT INTO quarantine (moved, keyIndex) VALUES (0, zeroblob(65))", .damaged),
        ("INSERT INTO quarantine (moved, attributes) VALUES (0, zeroblob(9000000))", .damaged),
        ("INSERT INTO quarantine (moved, secret) VALUES (0, zeroblob(70000000))", .damaged),
        ("DROP TABLE quarantine", .damaged), ("DELETE FROM keybag", .damaged),
    ])
    func `what is no keychain of this version does not come back`(
        _ change: String, _ error: KeychainStoreError
    ) throws {
        try KeychainCopy.make(of: keychain.path, at: copy)
        let queue = try DatabaseQueue(path: copy)
        try queue.writeWithoutTransaction { try $0.execute(sql: change) }
        try queue.close()
        #expect(throws: error) {
            _ = try ReturningKeychain(
                copy, owner: TestKeychain.owner, deviceKey: keychain.deviceKey)
        }
    }

    @Test(arguments: ["type", "name", "tbl_name", "rootpage", "sql"])
    func `a schema with nothing where something must be does not come back, and ends nothing`(
        _ column: String
    ) throws {
        for object in ["sqlite_autoindex_item_1", "item", "quarantine"] {
            try? FileManager.default.removeItem(atPath: copy)
            try KeychainCopy.make(of: keychain.path, at: copy)
            let queue = try DatabaseQueue(path: copy)
            try queue.writeWithoutTransaction {
                try $0.execute(sql: "PRAGMA writable_schema = ON")
                try $0.execute(
                    sql: "UPDATE sqlite_schema SET \(column) = NULL WHERE name = ?",
                    arguments: [object])
            }
            try? queue.close()
            // The index that SQLite makes itself has no words.
            if object == "sqlite_autoindex_item_1", column == "sql" { continue }
            #expect(throws: KeychainStoreError.damaged, "\(column) of \(object)") {
                _ = try ReturningKeychain(
                    copy, owner: TestKeychain.owner, deviceKey: keychain.deviceKey)
            }
        }
    }

    @Test(arguments: [
        "identifier", "class", "accessible", "generation", "keyIndex", "tokens", "attributes",
    ])
    func `a record without one of its columns, or with another type there, is damaged`(
        _ column: String
    ) throws {
        let strict = try #require(
            try keychain.rows("SELECT sql FROM sqlite_schema WHERE name = 'item'").first)
        let loose = (try strict.decode(String.self, atIndex: 0))
            .replacing(" NOT NULL", with: "").replacing(" STRICT", with: "")
        for value in ["NULL", "'text'", "1.5", "x'00'", "9223372036854775807"] {
            try? FileManager.default.removeItem(atPath: copy)
            try KeychainCopy.make(of: keychain.path, at: copy)
            try rewrite("item", as: loose)
            let queue = try DatabaseQueue(path: copy)
            try queue.writeWithoutTransaction {
                try $0.execute(sql: "UPDATE item SET \(column) = \(value) WHERE id = 3")
            }
            try queue.close()
            try rewrite("item", as: strict.decode(String.self, atIndex: 0))
            let file = try KeychainFile.open(at: copy, owner: TestKeychain.owner)
            let findings = try file.check(repair: false, keys: keychain.keys())
            #expect(
                findings.damaged + findings.misindexed == 1 || !findings.isStructureWhole,
                "\(column) = \(value)")
            _ = try file.find(query(), groups: [TestKeychain.group], keys: keychain.keys())
        }
    }

    /// The words of a table, while what is in it stays.
    private func rewrite(_ table: String, as words: String) throws {
        let queue = try DatabaseQueue(path: copy)
        try queue.writeWithoutTransaction {
            try $0.execute(sql: "PRAGMA writable_schema = ON")
            try $0.execute(
                sql: "UPDATE sqlite_schema SET sql = ? WHERE name = ?", arguments: [words, table])
        }
        try queue.close()
    }

    @Test func `an item of the last generation is damaged, and the one before can't be changed`()
        throws
    {
        let last = SealContext.generations.upperBound
        for (generation, count) in [(Int64.max, 20), (last + 1, 20), (0, 20), (-1, 20), (last, 21)]
        {
            let item = SealedItem(
                reference: try #require(
                    ItemReference(
                        itemClass: .genericPassword,
                        identifier: RandomBytes.make(ItemReference.identifierBytes))),
                generation: generation,
                record: AttributeRecord(
                    new: generic("sealed", "by its owner"), in: TestKeychain.group,
                    .plain(.whenUnlocked)),
                secret: .none, matcher: nil)
            _ = try keychain.file.add(
                item, HeldSecret(secret("s3cret")), try given(.encrypt, item),
                keys: keychain.keys()
            )
            #expect(try keychain.find(query()).count == count)
            if count == 20 {
                #expect(throws: KeychainStoreError.notFound) {
                    try keychain.update(
                        query(.genericPassword, [.service: .string("sealed")]), ItemChange(), "new")
                }
                // Also while it is locked, as it is when it comes back.
                let path = "\(copy) \(generation)"
                try KeychainCopy.make(of: keychain.path, at: path)
                let returning = try ReturningKeychain(
                    path, owner: TestKeychain.owner, deviceKey: keychain.deviceKey)
                let setAside = returning.setAside
                #expect(setAside == 1, "generation \(generation)")
                _ = try keychain.file.check(repair: true, keys: keychain.keys())
            } else {
                #expect(throws: KeychainStoreError.tooLarge) {
                    try keychain.update(
                        query(.genericPassword, [.service: .string("sealed")]), ItemChange(), "new")
                }
            }
        }
        #expect(try keychain.find(query()).count == 21)
    }

    @Test func `a file cut short or full of noise does not come back`() throws {
        try KeychainCopy.make(of: keychain.path, at: copy)
        let content = try rawBytes(copy)
        let broken = [
            Array(content.prefix(4096)), Array(content.dropLast(1)), Array(content.dropLast(4096)),
            RandomBytes.make(content.count), [],
        ]
        for bytes in broken {
            try Data(bytes).write(to: URL(fileURLWithPath: copy))
            #expect(throws: KeychainStoreError.damaged) {
                _ = try ReturningKeychain(
                    copy, owner: TestKeychain.owner, deviceKey: keychain.deviceKey)
            }
        }
    }

    @Test func `on another device what is bound to the first is set aside`() throws {
        for (number, accessible) in Accessibility.allCases.enumerated() {
            try keychain.add(generic("each", "\(number)", accessible: accessible))
        }
        try KeychainCopy.make(of: keychain.path, at: copy)
        let elsewhere = SealingKey.random()
        let path = keychain.folder + "/elsewhere.keychain"
        let returning = try ReturningKeychain(
            copy, owner: TestKeychain.owner, deviceKey: elsewhere)
        let setAside = returning.setAside
        #expect(setAside == 5)
        try returning.publish(at: path)
        let file = try KeychainFile.open(at: path, owner: TestKeychain.owner)
        let unlocked = try file.unlock(
            password: secret(TestKeychain.password), deviceSecret: nil)
        let keys = ClassKeys(
            always: try file.alwaysKeys(deviceKey: elsewhere),
            afterFirstUnlock: unlocked.afterFirstUnlock.copy(),
            whileUnlocked: unlocked.whileUnlocked.copy())
        let found = try file.find(query(), groups: [TestKeychain.group], keys: keys)
        #expect(found.count == 22)
        #expect(try file.check(repair: false, keys: keys).isClean)
    }

    @Test func `without a password nothing opens it on another device, and it is refused`() throws {
        let unprotected = try TestKeychain(password: nil)
        try KeychainCopy.make(of: unprotected.path, at: copy)
        #expect(throws: KeychainStoreError.wrongDeviceKey) {
            _ = try ReturningKeychain(
                copy, owner: TestKeychain.owner, deviceKey: SealingKey.random())
        }
    }
}
