// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import KeychainModel
import KeychainSecrets
import Testing

@testable import KeychainItemStore

/// Files that are not what they should be: refused, and left byte by byte as they were found.
@Suite struct DamageTests {
    private struct Found {
        let folder: String
        var path: String { folder + "/login.keychain" }

        init(_ content: [UInt8]) throws {
            folder = try TestKeychain.newFolder()
            try Data(content).write(to: URL(fileURLWithPath: path))
        }

        /// What comes of using the file from opening to the last item.
        func useError(_ original: TestKeychain) -> KeychainStoreError? {
            do throws(KeychainStoreError) {
                let file = try KeychainFile.open(at: path, owner: TestKeychain.owner)
                _ = try file.unlock(
                    password: secret(TestKeychain.password), deviceSecret: original.deviceSecret)
                _ = try file.find(
                    query(), groups: [TestKeychain.group], keys: original.keys())
                _ = try file.itemCount()
                return nil
            } catch { return error }
        }

        func remove() { try? FileManager.default.removeItem(atPath: folder) }
    }

    /// A keychain of some pages, its log written back into the file.
    private func wholeFile() throws -> (TestKeychain, [UInt8]) {
        let keychain = try TestKeychain()
        for number in 0..<40 { try keychain.add(generic("mail", "account \(number)")) }
        keychain.file.flush()
        return (keychain, try rawBytes(keychain.path))
    }

    @Test func `an untouched copy opens`() throws {
        let (keychain, content) = try wholeFile()
        let found = try Found(content)
        defer { found.remove() }
        #expect(found.useError(keychain) == nil)
    }

    @Test func `a file cut short anywhere is damaged and stays as it is`() throws {
        let (keychain, content) = try wholeFile()
        var lengths = [0, 1, 15, 16, 60, 72, 99, 100, 101, 511, 512, 1023, 4095, 4096, 4097]
        lengths += stride(from: 8192, to: content.count, by: 4096)
        lengths += [content.count / 2, content.count - 4096, content.count - 1]
        for length in lengths {
            let cut = Array(content.prefix(length))
            let found = try Found(cut)
            defer { found.remove() }
            #expect(found.useError(keychain) == .damaged, "cut to \(length) bytes")
            #expect(try rawBytes(found.path) == cut, "cut to \(length) bytes")
        }
    }

    @Test func `random bytes are damaged and stay as they are`() throws {
        let keychain = try TestKeychain()
        for length in [1, 100, 4096, 100_000] {
            let noise = RandomBytes.make(length)
            let found = try Found(noise)
            defer { found.remove() }
            #expect(found.useError(keychain) == .damaged)
            #expect(try rawBytes(found.path) == noise)
        }
    }

    @Test func `random pages behind a whole first page never trap`() throws {
        let (keychain, content) = try wholeFile()
        for _ in 0..<40 {
            var broken = content
            let page = Int.random(in: 1..<content.count / 4096)
            broken.replaceSubrange(page * 4096..<(page + 1) * 4096, with: RandomBytes.make(4096))
            let found = try Found(broken)
            defer { found.remove() }
            let error = found.useError(keychain)
            #expect(error == nil || error == .damaged)
        }
    }

    @Test func `another program's database is damaged and stays as it is`() throws {
        let keychain = try TestKeychain()
        let folder = try TestKeychain.newFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/other.db"
        let queue = try DatabaseQueue(path: path)
        try queue.write {
            try $0.execute(sql: "CREATE TABLE item (id INTEGER); PRAGMA user_version = 1")
        }
        try queue.close()
        let found = try Found(try rawBytes(path))
        defer { found.remove() }
        #expect(found.useError(keychain) == .damaged)
        #expect(try rawBytes(found.path) == rawBytes(path))
    }

    @Test func `what a newer version made is told apart and stays as it is`() throws {
        let keychain = try TestKeychain()
        let queue = try DatabaseQueue(path: keychain.path)
        try queue.writeWithoutTransaction {
            try $0.execute(sql: "PRAGMA user_version = 999")
            try $0.checkpoint(.truncate)
        }
        try queue.close()
        let before = try rawBytes(keychain.path)
        #expect(throws: KeychainStoreError.newerVersion) {
            try KeychainFile.open(at: keychain.path, owner: TestKeychain.owner)
        }
        #expect(try rawBytes(keychain.path) == before)
    }

    @Test func `a folder or a link in the keychain's place is damaged`() throws {
        let keychain = try TestKeychain()
        let folder = keychain.folder + "/folder.keychain"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false)
        let link = keychain.folder + "/link.keychain"
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: keychain.path)
        for path in [folder, link] {
            #expect(throws: KeychainStoreError.damaged) {
                try KeychainFile.open(at: path, owner: TestKeychain.owner)
            }
        }
    }

    @Test func `a flipped bit in any keybag value is damage, never a wrong password`() throws {
        let (keychain, content) = try wholeFile()
        let keybag = try keychain.rows("SELECT name, value FROM keybag")
        #expect(keybag.count == 6)
        for row in keybag {
            let name: String = row["name"]
            let value: [UInt8] = [UInt8](row["value"] as Data)
            for position in [0, value.count / 2, value.count - 1] {
                let found = try Found(content)
                defer { found.remove() }
                var changed = value
                changed[position] ^= 1
                let queue = try DatabaseQueue(path: found.path)
                try queue.write {
                    try $0.execute(
                        sql: "UPDATE keybag SET value = ? WHERE name = ?",
                        arguments: [Data(changed), name])
                }
                try queue.close()
                #expect(found.useError(keychain) == .damaged, "\(name), byte \(position)")
            }
        }
    }

    @Test(arguments: ["identifier", "owner", "afterFirstUnlock", "whileUnlocked"])
    func `a keybag without one of its values is damaged`(_ name: String) throws {
        let (keychain, content) = try wholeFile()
        let found = try Found(content)
        defer { found.remove() }
        let queue = try DatabaseQueue(path: found.path)
        try queue.write {
            try $0.execute(sql: "DELETE FROM keybag WHERE name = ?", arguments: [name])
        }
        try queue.close()
        #expect(found.useError(keychain) == .damaged)
    }

    @Test(
        arguments: [
            (UInt32.max, UInt32.max, .derivationTooCostly), (0, 64, .damaged), (1, 0, .damaged),
            (65, 64, .derivationTooCostly), (1, 64 * 1024 + 1, .derivationTooCostly),
            (16, 256 * 1024, .derivationTooCostly),
        ] as [(UInt32, UInt32, KeychainStoreError)])
    func `absurd derivation parameters are refused and cost nothing, nor do they come back`(
        _ passes: UInt32, _ memoryKiB: UInt32, _ error: KeychainStoreError
    ) throws {
        let keychain = try TestKeychain()
        let real = try #require(keychain.file.keybag().protectors(.password).first)
        let parameters =
            [1] + passes.littleEndianBytes + memoryKiB.littleEndianBytes
            + real.parameters.dropFirst(9)
        // Behind the version, the state, the moment and the length come the parameters.
        let absurd =
            real.bytes.prefix(14) + parameters + real.bytes.dropFirst(14 + parameters.count)
        let record = try ProtectorRecord(name: real.name, bytes: Array(absurd))
        try edit(keychain.path) { try Keybag.write(record, $0) }
        #expect(throws: error) {
            _ = try keychain.file.unlock(
                password: secret(TestKeychain.password), deviceSecret: nil)
        }
        let copy = keychain.folder + "/copy"
        try KeychainCopy.make(of: keychain.path, at: copy)
        #expect(throws: error) {
            _ = try ReturningKeychain(
                copy, owner: TestKeychain.owner, deviceKey: keychain.deviceKey)
        }
    }

    @Test func `a keybag's wraps open in their own place only`() throws {
        let wrap = KeyWrap(identifier: RandomBytes.make(16), owner: TestKeychain.owner)
        let key = SealingKey.random()
        let sealed = wrap.seal(SecretBytes(random: 32), for: .always, under: key)
        func opens(_ entry: Keybag.Entry) -> Bool {
            wrap.open(sealed, for: entry, under: key) != nil
        }
        #expect(opens(.always))
        #expect(![.identifier, .owner, .afterFirstUnlock, .whileUnlocked].contains(where: opens))
    }

    @Test func `a protector's wraps open as what they were made for only`() throws {
        let wrap = KeyWrap(identifier: RandomBytes.make(16), owner: TestKeychain.owner)
        let key = SealingKey.random()
        var record = ProtectorRecord(.password, .pending, parameters: [1, 2, 3])
        record.keep(master: SealingKey.random(), under: key, wrap)
        record.keep(passcode: SealingKey.random(), under: key, wrap)
        func opens(_ name: String, _ bytes: [UInt8]) throws -> Bool {
            try ProtectorRecord(name: name, bytes: bytes).master(key, wrap) != nil
        }
        #expect(try opens(record.name, record.bytes))
        // As another kind, under another number, in another state, at another time or cost.
        let digits = String(record.name.suffix(8))
        #expect(try !opens("protector:device:" + digits, record.bytes))
        let other = digits == "00000000" ? "00000001" : "00000000"
        #expect(try !opens("protector:password:" + other, record.bytes))
        for (position, value) in [(1, UInt8(1)), (2, record.bytes[2] ^ 1), (14, 9)] {
            var changed = record.bytes
            changed[position] = value
            #expect(try !opens(record.name, changed), "byte \(position)")
        }
        // Nor does one of its wraps stand in for the other.
        let wrapBytes = 4 + 32 + SealingKey.overhead
        let head = record.bytes.dropLast(2 * wrapBytes)
        let tail = record.bytes.suffix(2 * wrapBytes)
        #expect(
            try !opens(
                record.name, head + tail.suffix(wrapBytes) + tail.prefix(wrapBytes)))
    }

    @Test(arguments: [
        "protector:", "protector:password", "protector:password:", "protector:password:1",
        "protector:password:0000000g", "protector:password:000000001",
        "protector:password:0000000A", "protector:passwords:00000001",
        "protector:password:00000001:", "protector:password:+0000001",
    ])
    func `a protector with a name that the store never gives is damage`(_ name: String) throws {
        let keychain = try TestKeychain()
        let real = try #require(keychain.file.keybag().protectors.first)
        #expect(throws: KeychainStoreError.damaged) {
            _ = try ProtectorRecord(name: name, bytes: real.bytes)
        }
    }

    @Test func `a protector that is longer or shorter than it says is damage`() throws {
        let keychain = try TestKeychain()
        let real = try #require(keychain.file.keybag().protectors.first)
        for bytes in [[], real.bytes + [0], real.bytes.dropLast(), [9] + real.bytes.dropFirst()] {
            #expect(throws: KeychainStoreError.damaged) {
                _ = try ProtectorRecord(name: real.name, bytes: Array(bytes))
            }
        }
    }

    @Test func `more protectors than there may be are damage`() throws {
        let keychain = try TestKeychain()
        let real = try #require(keychain.file.keybag().protectors.first)
        func add(_ count: Int) throws {
            try edit(keychain.path) { database in
                for number in 0..<count {
                    let digits = String(number + 0x1000_0000, radix: 16)
                    let copy = try ProtectorRecord(
                        name: "protector:device:" + digits, bytes: real.bytes)
                    try Keybag.write(copy, database)
                }
            }
        }
        try add(Keybag.mostProtectors - 1)
        #expect(try keychain.file.protectors().count == Keybag.mostProtectors)
        try add(Keybag.mostProtectors)
        #expect(throws: KeychainStoreError.damaged) { _ = try keychain.file.protectors() }
    }

    @Test func `passwords by the dozen, each at the price of a derivation, are damage`() throws {
        let keychain = try TestKeychain()
        let real = try #require(keychain.file.keybag().protectors(.password).first)
        for number in 1...Keybag.mostPasswords {
            let found = Result { try keychain.file.protectors().count }
            #expect((try? found.get()) == number)
            let copy = try ProtectorRecord(
                name: "protector:password:1000000\(number)", bytes: real.bytes)
            try edit(keychain.path) { try Keybag.write(copy, $0) }
        }
        #expect(throws: KeychainStoreError.damaged) { _ = try keychain.file.protectors() }
    }

    @Test func `a keybag's wraps do not open in another keychain`() throws {
        let first = try TestKeychain()
        let second = try TestKeychain()
        let foreign = try second.file.keybag().protectors
        try edit(first.path) {
            try Keybag.replace(first.file.keybag().protectors, with: foreign, $0)
        }
        #expect(throws: KeychainStoreError.wrongPassword) {
            _ = try first.file.unlock(
                password: secret(TestKeychain.password), deviceSecret: nil)
        }
    }
}
