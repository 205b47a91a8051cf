// SPDX-License-Identifier: Apache-2.0
import Foundation
@testable import KeychainMaintenance
import KeychainMessages
import KeychainModel
import KeychainUserPresence
import Testing

@testable import KeychainItemStore
@testable import KeychainRequestService
@testable import KeychainVaults

/// A keychain that its user has deleted.
@Suite final class DeleteKeychainTests {
    private let world: ServiceInMemory
    private var work: KeychainID { KeychainID(user: geteuid(), name: KeychainName("work")!) }
    private var path: String { world.home + "/work.keychain" }

    init() throws {
        world = try ServiceInMemory()
        try world.ask(CreateKeychain(name: "work", password: ServiceInMemory.secret("work")))
    }

    private func add(_ name: String, as program: Program = .git) throws {
        var item = NewItem(.genericPassword)
        item.keychain = "work"
        item.attributes = [.service: .string(name)]
        try world.ask(Add(item, secret: ServiceInMemory.secret(name), returning: []), program)
    }

    private func delete(_ name: String? = "work") throws(RequestError) {
        _ = try world.ask(DeleteKeychain(keychain: name))
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: world.home)
            .filter { $0.hasPrefix("work.") }.sorted()
    }

    private func restore() throws {
        let kept = try world.ask(ListGenerations(keychain: "work"))
        let number = try #require(kept.first?.number)
        try world.ask(RestoreGeneration(keychain: "work", generation: number))
    }

    @Test func `its user is told how many items of which programs go`() throws {
        try add("a")
        try add("b")
        try add("c", as: Program("/usr/bin/mail", process: 30))
        try delete()
        #expect(world.person.questions.count == 1)
        let question = try #require(world.person.questions.first)
        #expect(question.contains("delete your keychain “work”, with all that is in it."))
        #expect(
            question.contains("It has 3 items of 2 programs: “/usr/bin/git”, “/usr/bin/mail”."))
    }

    @Test func `one program is named alone`() throws {
        try add("a")
        try delete()
        #expect(world.person.questions.first?.contains("It has 1 item of “/usr/bin/git”.") == true)
    }

    @Test func `of many programs the first three are named`() throws {
        try add("a")
        for number in 1...4 {
            try add("b", as: Program("/usr/bin/n\(number)", process: Int32(30 + number)))
        }
        try delete()
        let named = "“/usr/bin/git”, “/usr/bin/n1”, “/usr/bin/n2” and 2 more."
        #expect(
            world.person.questions.first?.contains("It has 5 items of 5 programs: \(named)")
                == true)
    }

    @Test func `of a locked one the programs are not known`() throws {
        try add("a")
        try world.vault.lock(world.folder.keychain("work", of: geteuid()))
        try delete()
        #expect(world.person.questions.first?.contains("It has 1 item.\n") == true)
    }

    @Test func `the login keychain and the default one stay`() throws {
        #expect(throws: RequestError.invalid(.notImplemented)) { try delete(nil) }
        try world.ask(Preferences(.defaultKeychain("work")))
        #expect(throws: RequestError.invalid(.notImplemented)) { try delete() }
        #expect(world.person.questions.isEmpty)
    }

    @Test func `one that becomes the default during the question stays`() throws {
        let (service, change) = (world.service, Preferences(.defaultKeychain("work")))
        world.person.meanwhile { _ = try? service.answer(change, for: Program.git) { _ in } }
        #expect(throws: RequestError.invalid(.notImplemented)) { try delete() }
        #expect(world.folder.exists(work.name, of: work.user))
    }

    @Test func `it is not there for programs, and no other is made under its name`() throws {
        try add("a")
        try delete()
        #expect(throws: RequestError.state(.noSuchKeychain)) { try self.add("b") }
        let again = CreateKeychain(name: "work", password: ServiceInMemory.secret("again"))
        #expect(throws: RequestError.failed(.keychainGone)) { try self.world.ask(again) }
        let asked = CreateKeychain(name: "work", password: nil, asks: true)
        #expect(throws: RequestError.state(.duplicateKeychain)) { try self.world.ask(asked) }
    }

    @Test func `it is restored with all that was in it`() throws {
        try add("a")
        try delete()
        try restore()
        #expect(try world.folder.keychain("work", of: geteuid()).file.itemCount() == 1)
        #expect(try !names().contains("work.keychain.deleted"))
    }

    @Test func `a program that has it open writes nothing into it any more`() throws {
        let open = try world.folder.keychain("work", of: geteuid())
        try delete()
        #expect(throws: KeychainStoreError.busy) { try open.file.setLabel("late") }
        try restore()
        try world.folder.keychain("work", of: geteuid()).file.setLabel("Work")
        // The last connection to the deleted file ends with the object, and takes no other's log along.
        withExtendedLifetime(open) {}
        #expect(try names().contains("work.keychain-wal"))
    }

    // MARK: Afterwards

    @Test func `what was kept goes after a while, and not before`() throws {
        try add("a")
        try delete()
        let kept = try names()
        #expect(!world.folder.removeDeleted(work))
        #expect(try names() == kept)
        #expect(world.folder.removeDeleted(work, after: .seconds(-1)))
        #expect(try names().isEmpty)
    }

    @Test func `of many deleted ones the oldest is no longer kept`() throws {
        func write(_ name: String, _ age: Int) throws {
            let path = world.home + "/" + name
            try Data([1]).write(to: URL(filePath: path))
            let then = Date(timeIntervalSinceNow: -Double(age))
            try FileManager.default.setAttributes([.modificationDate: then], ofItemAtPath: path)
        }
        for number in 1...KeychainFolder.mostDeletedKept {
            try write("old\(number).keychain.deleted", 60 * number)
            try write("old\(number).keychain.generation-1", 60 * number)
        }
        try delete()
        let left = try FileManager.default.contentsOfDirectory(atPath: world.home)
        #expect(left.count { $0.hasSuffix(".deleted") } == KeychainFolder.mostDeletedKept)
        #expect(!left.contains { $0.hasPrefix("old\(KeychainFolder.mostDeletedKept).") })
        #expect(left.contains("old1.keychain.generation-1"))
        #expect(left.contains("work.keychain.deleted"))
    }

    @Test func `a file that was lost is not taken for deleted`() throws {
        try add("a")
        GenerationKeeper(world.folder, log: { _ in }).keepWhatIsDue()
        try FileManager.default.removeItem(atPath: path)
        #expect(!world.folder.removeDeleted(work, after: .seconds(-1)))
        #expect(throws: RequestError.failed(.keychainGone)) { try self.add("b") }
    }

    @Test func `the mark of a deletion that was cut off goes after an hour`() throws {
        let mark = path + ".deleted"
        try Data().write(to: URL(filePath: mark))
        #expect(!world.folder.removeDeleted(work, after: .seconds(-1)))
        #expect(try names().contains("work.keychain.deleted"))
        let old = Date(timeIntervalSinceNow: -3700)
        try FileManager.default.setAttributes([.modificationDate: old], ofItemAtPath: mark)
        #expect(!world.folder.removeDeleted(work, after: .seconds(-1)))
        #expect(try !names().contains("work.keychain.deleted"))
        #expect(world.folder.exists(work.name, of: work.user))
    }
}
