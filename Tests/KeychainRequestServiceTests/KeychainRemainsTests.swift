// SPDX-License-Identifier: Apache-2.0
import Foundation
@testable import KeychainMaintenance
import KeychainMessages
import KeychainModel
import KeychainItemStore
import KeychainLinuxSystem
import KeychainSecrets
import Testing

@testable import KeychainEmbedded
@testable import KeychainVaults

/// Where a keychain's file is gone and something of it is left, no empty one is made in its place.
@Suite final class KeychainRemainsTests {
    private let home = NSTemporaryDirectory() + "remains-" + UUID().uuidString
    private let service: EmbeddedKeychain
    private let folder: KeychainFolder
    private var path: String { home + "/login.keychain" }
    private static let digits = String(repeating: "0f", count: 16)

    static let remains = [
        "login.keychain.generation-1", "login.keychain.damaged-1", "login.keychain.damaged-12-wal",
        "login.keychain.incoming-new", "login.keychain.incoming-\(digits)",
        "login.keychain.backup-\(digits)", "login.keychain-wal", "login.keychain-journal",
    ]

    init() throws {
        service = try EmbeddedKeychain(home: home, groups: ["own"])
        folder = KeychainFolder(home, layout: .ownUser, accountName: { _ in "me" })
    }

    deinit { try? FileManager.default.removeItem(atPath: home) }

    @discardableResult
    private func ask<V: Verb>(_ verb: V) throws(RequestError) -> V.Answer {
        try service.send(verb, in: nil, cancellation: nil)
    }

    private func add(_ service: String, in keychain: String? = nil) throws(RequestError) {
        var item = NewItem(.genericPassword)
        item.keychain = keychain
        item.attributes = [.service: .string(service)]
        try ask(Add(item, secret: HeldSecret(SecretBytes(copying: [1])), returning: []))
    }

    private func services() throws(RequestError) -> [AttributeValue] {
        var query = ItemQuery(.genericPassword)
        query.limit = nil
        query.returnFields = .attributes
        return try ask(CopyMatching(query)).compactMap { $0.attributes[.service] }
    }

    private func write(_ name: String, _ bytes: [UInt8] = [1]) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: home + "/" + name))
    }

    private func names() throws -> Set<String> {
        Set(try FileManager.default.contentsOfDirectory(atPath: home))
    }

    private func status(_ name: String = "login") throws -> KeychainStatus {
        try #require(try ask(Status()).keychains.first { $0.name == name })
    }

    // MARK: Nothing new

    @Test(arguments: KeychainRemainsTests.remains)
    func `no login keychain is made beside a file of an earlier one`(_ left: String) throws {
        try write(left)
        try write("login.device-secret", [7])
        let before = try names()
        #expect(throws: RequestError.failed(.keychainGone)) { try self.add("mail") }
        #expect(throws: RequestError.failed(.keychainGone)) { _ = try self.services() }
        let request = CreateKeychain(
            name: "login", password: HeldSecret(SecretBytes(copying: [2])))
        #expect(throws: RequestError.failed(.keychainGone)) { try self.ask(request) }
        let status = try status()
        #expect(status.problem == .failed(.keychainGone))
        #expect(status.remains == [left])
        #expect(try names() == before)
        // What of this device the earlier one's passcode-set items need is there still.
        #expect(
            FileManager.default.contents(atPath: home + "/login.device-secret") == Data([7]))
    }

    @Test func `the same is so of a keychain of any name`() throws {
        try write("work.keychain.generation-3")
        #expect(throws: RequestError.failed(.keychainGone)) {
            try self.ask(CreateKeychain(name: "work", password: nil))
        }
        #expect(throws: RequestError.failed(.keychainGone)) { try self.add("mail", in: "work") }
        // And others are not held up by it.
        try add("mail")
    }

    @Test func `files that are of no earlier one hold nothing up`() throws {
        for name in [
            "login.device-secret", "login.keychain-shm", ".login.keychain.1a2b",
            "login.keychain.generation-0", "login.keychain.generation-x", "login.keychain.damaged-",
            "login.keychain.damaged-x", "login.keychain.incoming-1", "login.keychain.txt",
            "login.keychain.backup-\(Self.digits)-shm", "logins.keychain.generation-1",
        ] { try write(name) }
        try write("login.keychain-wal", [])
        try add("mail")
        #expect(try status().problem == nil)
    }

    // MARK: And back

    private func keep() throws -> Int {
        GenerationKeeper(folder, log: { _ in }).keepWhatIsDue()
        let kept = try ask(ListGenerations(keychain: nil))
        return try #require(kept.first?.number)
    }

    @Test func `an earlier state takes the place of a file that is gone`() throws {
        try add("early")
        let number = try keep()
        try FileManager.default.removeItem(atPath: path)
        #expect(throws: RequestError.failed(.keychainGone)) { _ = try self.services() }
        try ask(RestoreGeneration(keychain: nil, generation: number))
        #expect(try services() == [.string("early")])
        #expect(try status().problem == nil)
    }

    @Test func `the log of a file that is gone is set aside, and not written into another`() throws
    {
        try add("early")
        let number = try keep()
        for ending in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: path + ending)
        }
        try write("login.keychain-wal", [3, 2, 1])
        try write("login.keychain-journal", [5, 4])
        try ask(RestoreGeneration(keychain: nil, generation: number))
        #expect(try services() == [.string("early")])
        let aside = home + "/login.keychain.damaged-1"
        #expect(FileManager.default.contents(atPath: aside + "-wal") == Data([3, 2, 1]))
        #expect(FileManager.default.contents(atPath: aside + "-journal") == Data([5, 4]))
        #expect(try !names().contains("login.keychain-journal"))
    }

    @Test func `a file that can't be read is set aside, and nothing else is left`() throws {
        try add("early")
        let number = try keep()
        for ending in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: path + ending)
        }
        try write("login.keychain", Array("no keychain".utf8))
        // One of an earlier restore, of which the file itself is gone.
        try write("login.keychain.damaged-1-wal", [9])
        try ask(RestoreGeneration(keychain: nil, generation: number))
        #expect(try services() == [.string("early")])
        let aside = home + "/login.keychain.damaged-"
        #expect(FileManager.default.contents(atPath: aside + "1-wal") == Data([9]))
        #expect(FileManager.default.contents(atPath: aside + "2") == Data("no keychain".utf8))
        #expect(try !names().contains { $0.contains(".incoming-") })
    }

    @Test func `a file that the disk can't read is set aside as one that is damaged`() throws {
        try add("early")
        let number = try keep()
        // A file that is not open yet, with an index of its log that SQLite can't open.
        try KeychainCopy.make(of: path, at: home + "/again", isForUse: true)
        for ending in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: path + ending)
        }
        try FileManager.default.moveItem(atPath: home + "/again", toPath: path)
        try FileManager.default.createSymbolicLink(
            atPath: path + "-shm", withDestinationPath: "nowhere")
        let content = FileManager.default.contents(atPath: path)
        #expect(throws: RequestError.failed(.inputOutput)) { _ = try self.services() }
        try ask(RestoreGeneration(keychain: nil, generation: number))
        #expect(try services() == [.string("early")])
        #expect(FileManager.default.contents(atPath: path + ".damaged-1") == content)
    }

    @Test func `a file that takes another's place is not read together with its log`() throws {
        for (number, name) in ["old", "old-wal", "old-journal", "old-shm", "new"].enumerated() {
            try write(name, [UInt8(number)])
        }
        try PrivateFile.replaceDatabase(
            home + "/old", with: home + "/new", settingAside: home + "/aside")
        func content(_ name: String) -> Data? {
            FileManager.default.contents(atPath: home + "/" + name)
        }
        #expect(content("old") == Data([4]))
        #expect(content("aside") == Data([0]))
        #expect(content("aside-wal") == Data([1]))
        #expect(content("aside-journal") == Data([2]))
        for gone in ["new", "old-wal", "old-journal", "old-shm"] { #expect(content(gone) == nil) }
    }

    // MARK: Leftovers

    @Test func `files of many keychains are told apart in one listing of their folder`() throws {
        let user = geteuid()
        let kinds = [".generation-1", ".deleted", "-wal", ".backup-\(Self.digits)"]
        for number in 0..<40 {
            for kind in kinds { try write("work\(number).keychain\(kind)") }
        }
        for name in ["login.keychain", "login.device-secret", ".login.keychain.1a2b"] {
            try write(name)
        }
        let files = folder.filesBesideKeychains()
        #expect(files.count == 41)
        #expect(files[KeychainID(user: user, name: .login)] == [".login.keychain.1a2b"])
        let work = try #require(KeychainName("work7"))
        let ofWork = try #require(files[KeychainID(user: user, name: work)])
        #expect(Set(ofWork) == Set(kinds.map { "work7.keychain" + $0 }))
        let remains = KeychainRemains(of: folder.filePath(work, user), among: ofWork)
        #expect(try remains.all == KeychainRemains(of: folder.filePath(work, user)).all)
        #expect(remains.isDeleted && remains.logs == ["work7.keychain-wal"])
    }

    @Test func `where the file is gone nothing that is left of it is a leftover`() throws {
        let place = KeychainID(user: geteuid(), name: .login)
        for name in Self.remains { try write(name) }
        let before = try names()
        #expect(folder.keychainsWithoutFile() == [place])
        Leftovers(of: place, in: folder, olderThan: .seconds(-1)).remove()
        #expect(try names() == before)
    }

    @Test func `a transfer for a keychain that never was is one, and holds nothing up then`() throws
    {
        let place = KeychainID(user: geteuid(), name: .login)
        try write("login.keychain.incoming-\(Self.digits)")
        #expect(throws: RequestError.failed(.keychainGone)) { try self.add("mail") }
        #expect(folder.keychainsWithoutFile() == [place])
        Leftovers(of: place, in: folder, olderThan: .seconds(-1)).remove()
        try add("mail")
        #expect(folder.keychainsWithoutFile().isEmpty)
    }
}
