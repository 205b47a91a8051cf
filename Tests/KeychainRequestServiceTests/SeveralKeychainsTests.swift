// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainMessages
import KeychainModel
import KeychainSecrets
import Testing

@testable import KeychainEmbedded
@testable import KeychainVaults

/// Which keychains a call means that names none, and those that it names.
@Suite final class SeveralKeychainsTests {
    private let home = NSTemporaryDirectory() + "several-" + UUID().uuidString
    private let service: EmbeddedKeychain

    init() throws { service = try EmbeddedKeychain(home: home, groups: ["own"]) }

    deinit { try? FileManager.default.removeItem(atPath: home) }

    // MARK: Words

    @discardableResult
    private func ask<V: Verb>(_ verb: V) throws(RequestError) -> V.Answer {
        try service.send(verb, in: nil, cancellation: nil)
    }

    private func create(_ names: String..., password: String? = nil) throws(RequestError) {
        for name in names {
            try ask(CreateKeychain(name: name, password: password.map(secret)))
        }
    }

    @discardableResult
    private func add(
        _ account: String, _ text: String, to keychain: String? = nil
    ) throws(RequestError) -> Item? {
        var item = NewItem(.genericPassword)
        item.keychain = keychain
        item.attributes = [.service: .string("s"), .account: .string(account)]
        return try ask(Add(item, secret: secret(text), returning: .reference))
    }

    private func query(_ account: String?, in keychain: String? = nil) -> ItemQuery {
        var query = ItemQuery(.genericPassword)
        query.keychain = keychain
        query.attributes = [.service: .string("s")]
        if let account { query.attributes[.account] = .string(account) }
        query.returnFields = .data
        return query
    }

    private func read(_ query: ItemQuery) throws(RequestError) -> [String] {
        try ask(CopyMatching(query)).map { answered in
            let bytes = answered.secret?.bytes.copy().releasedFromLockedMemory() ?? []
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    private func read(_ account: String, in keychain: String? = nil) throws(RequestError) -> String?
    {
        try read(query(account, in: keychain)).first
    }

    private func search(_ names: String...) throws(RequestError) {
        try ask(Preferences(.searchList(names)))
    }

    private func preferences() throws(RequestError) -> KeychainPreferences? {
        try ask(Preferences(nil))
    }

    private func secret(_ text: String) -> HeldSecret {
        HeldSecret(SecretBytes(copying: Array(text.utf8)))
    }

    // MARK: Where new items go

    @Test func `no user makes keychains without end`() throws {
        try create("k0")
        let left = KeychainFolder.mostKeychains - 1
        for number in 1..<left { try create("k\(number)") }
        try add("me", "first")
        #expect(throws: RequestError.refused(.tooManyRequests)) { try create("onemore") }
        #expect(try read("me") == "first")
    }

    @Test func `without a word the login keychain is the default and what is searched`() throws {
        let said = try preferences()
        #expect(said == KeychainPreferences(defaultKeychain: .login, searchList: [.login]))
        let added = try add("a", "1")
        #expect(added?.keychain == nil)
        #expect(try read("a", in: "login") == "1")
    }

    @Test func `new items go to the default keychain and name it`() throws {
        try create("work")
        try ask(Preferences(.defaultKeychain("work")))
        #expect(try add("a", "1")?.keychain == "work")
        #expect(try read("a", in: "work") == "1")
        #expect(throws: RequestError.state(.notFound)) { try self.read("a", in: "login") }
        // It is added to, and not searched for that.
        #expect(throws: RequestError.state(.notFound)) { try self.read("a") }
    }

    @Test func `a keychain that does not exist is no default, and none is none`() throws {
        #expect(throws: RequestError.state(.noSuchKeychain)) {
            try self.ask(Preferences(.defaultKeychain("nobody-s")))
        }
        #expect(try preferences()?.defaultKeychain == .login)
        try ask(Preferences(.defaultKeychain(nil)))
        #expect(throws: RequestError.state(.noDefaultKeychain)) { try self.add("a", "1") }
        try add("a", "1", to: "login")
        #expect(try read("a") == "1")
    }

    // MARK: Where a search looks

    @Test func `a search takes what it finds first in the order of the list`() throws {
        try create("one", "two")
        try add("a", "1", to: "one")
        try add("a", "2", to: "two")
        try search("one", "two", "login")
        #expect(try read("a") == "1")
        try search("two", "one", "login")
        #expect(try read("a") == "2")
        try search("login")
        #expect(throws: RequestError.state(.notFound)) { try self.read("a") }
    }

    @Test func `a limit counts for all keychains together, and each item says where it lies`()
        throws
    {
        try create("one", "two")
        for number in 1...3 {
            try add("a\(number)", "one", to: "one")
            try add("b\(number)", "two", to: "two")
        }
        try add("c", "login", to: "login")
        try search("one", "login", "two")
        var some = query(nil)
        some.limit = 5
        #expect(try read(some) == ["one", "one", "one", "login", "two"])
        some.limit = nil
        some.returnFields = .attributes
        let all = try ask(CopyMatching(some)).map(\.keychain)
        #expect(all == ["one", "one", "one", nil, "two", "two", "two"])
        some.limit = 3
        #expect(try ask(CopyMatching(some)).map(\.keychain) == ["one", "one", "one"])
    }

    @Test func `keychains of the list that are gone are passed over, one that is named is missed`()
        throws
    {
        try add("a", "1")
        try search("nobody-s", "login")
        #expect(try read("a") == "1")
        #expect(throws: RequestError.state(.noSuchKeychain)) { try self.read("a", in: "nobody-s") }
        #expect(throws: RequestError.state(.noSuchKeychain)) {
            try self.add("b", "2", to: "nobody-s")
        }
        for list in [["nobody-s"], []] {
            try ask(Preferences(.searchList(list)))
            #expect(throws: RequestError.state(.notFound)) { try self.read("a") }
            #expect(throws: RequestError.state(.notFound)) { try self.ask(Delete(self.query("a"))) }
        }
    }

    @Test func `a locked keychain ends the search that may mean an item of it`() throws {
        try create("closed", password: "open sesame")
        try add("a", "1", to: "closed")
        try add("a", "2", to: "login")
        try ask(Lock(keychain: "closed"))
        try search("closed", "login")
        // Else the answer would be another secret than when it is open.
        #expect(throws: RequestError.state(.locked)) { try self.read("a") }
        try search("login", "closed")
        #expect(try read("a") == "2")
        #expect(throws: RequestError.state(.locked)) { try self.read(self.query(nil).unlimited) }
        try ask(Unlock(keychain: "closed", password: secret("open sesame")))
        #expect(try Set(read(query(nil).unlimited)) == ["1", "2"])
    }

    @Test func `a reference finds its item in any keychain of the user, on the list or not`() throws
    {
        try create("far")
        let far = try #require(try add("a", "far", to: "far"))
        try search("login")
        var named = query(nil)
        named.attributes = [:]
        named.references = [far.reference]
        #expect(try read(named) == ["far"])
        named.keychain = "login"
        #expect(throws: RequestError.state(.notFound)) { try self.read(named) }
    }

    // MARK: What is changed

    @Test func `update and delete mean the items of the whole list`() throws {
        try create("one", "off")
        for keychain in ["one", "login", "off"] { try add("a", "old", to: keychain) }
        try search("one", "login")
        let change = Update(query("a"), ItemChange(), secret: secret("new"))
        #expect(try ask(change) == 2)
        #expect(try read("a", in: "one") == "new")
        #expect(try read("a", in: "login") == "new")
        #expect(try read("a", in: "off") == "old")
        #expect(try ask(Delete(query("a"))) == 2)
        #expect(throws: RequestError.state(.notFound)) { try self.ask(Delete(self.query("a"))) }
        #expect(try ask(Delete(query("a", in: "off"))) == 1)
    }

    // MARK: Names

    @Test func `a list names keychains of the user's own, and never a file`() throws {
        for name in ["../1001/login", "/var/lib/keychain/1001/login.keychain", "", ".", "a/b"] {
            #expect(throws: RequestError.invalid(.badKeychainName)) {
                try self.search("login", name)
            }
            #expect(throws: RequestError.invalid(.badKeychainName)) {
                try self.ask(Preferences(.defaultKeychain(name)))
            }
        }
        let many = (0...KeychainPreferences.mostSearched).map { "k\($0)" }
        #expect(throws: RequestError.invalid(.badRequest)) {
            try self.ask(Preferences(.searchList(many)))
        }
        try search("login", "a", "login", "a")
        #expect(try preferences()?.searchList.map(\.description) == ["login", "a"])
    }

    @Test func `without a service there is no keychain of the machine's, nor another of its name`()
        throws
    {
        #expect(throws: RequestError.invalid(.notImplemented)) { try self.create("system") }
        #expect(throws: RequestError.state(.noSuchKeychain)) { try self.read("a", in: "system") }
        #expect(throws: RequestError.state(.noSuchKeychain)) {
            try self.add("a", "1", to: "system")
        }
        let names = try ask(Status()).keychains.map(\.name)
        #expect(names == ["login"])
    }

    @Test func `what was said is there for the next process`() throws {
        try create("work")
        try ask(Preferences(.defaultKeychain("work")))
        try search("work", "login")
        let other = try EmbeddedKeychain(home: home, groups: ["own"])
        let said = try other.send(Preferences(nil), in: nil, cancellation: nil)
        #expect(said == (try preferences()))
        #expect(said.searchList.map(\.description) == ["work", "login"])
    }

    @Test func `of changes at once none is lost`() throws {
        try create("work")
        try search("work")
        // Two services, as in two processes.
        let services = [service, try EmbeddedKeychain(home: home, groups: ["own"])]
        let aliases = (0..<8).map { "a\($0)" }
        DispatchQueue.concurrentPerform(iterations: aliases.count) { number in
            #expect(throws: Never.self) {
                let change = Preferences(.alias(aliases[number], keychain: "work"))
                _ = try services[number % 2].send(change, in: nil, cancellation: nil)
            }
        }
        #expect(try preferences()?.aliases.keys.sorted() == aliases)
    }
}

extension ItemQuery {
    fileprivate var unlimited: ItemQuery {
        var query = self
        query.limit = nil
        return query
    }
}

/// The file in which it is kept.
@Suite struct KeychainPreferenceFilesTests {
    private func preferences(_ byDefault: String?, _ names: [String]) -> KeychainPreferences {
        KeychainPreferences(
            defaultKeychain: byDefault.flatMap(KeychainName.init),
            searchList: names.compactMap(KeychainName.init))
    }

    @Test(arguments: [("login", ["login", "system"]), (nil, []), ("a", ["b", "c", "a"])])
    func `what is written is read`(byDefault: String?, names: [String]) {
        let said = preferences(byDefault, names)
        let text = KeychainPreferenceFiles.text(said)
        #expect(KeychainPreferenceFiles.preferences(text) == said)
    }

    @Test func `aliases are read as they were written`() {
        var said = preferences("login", ["login"])
        said.aliases = ["work": .login, "a_1": .system]
        let text = KeychainPreferenceFiles.text(said)
        #expect(KeychainPreferenceFiles.preferences(text) == said)
    }

    @Test(arguments: [
        "", "keychain preferences 1", "keychain preferences 2\n", "\n",
        "keychain preferences 1\ndefault ../x\n", "keychain preferences 1\nsearch a",
        "keychain preferences 1\ndefault a\ndefault b\n",
        "keychain preferences 1\nsearch a\nsearch a\n", "keychain preferences 1\nsearch a b\n",
        "keychain preferences 1\n\n", "keychain preferences 1\nother a\n",
        "keychain preferences 1\nalias a\n", "keychain preferences 1\nalias default b\n",
        "keychain preferences 1\nalias a b\nalias a c\n",
        "keychain preferences 1\nalias a b c\n",
    ])
    func `what makes no sense says nothing`(text: String) {
        #expect(KeychainPreferenceFiles.preferences(text) == nil)
    }

    @Test func `a list that is too long is none`() {
        let lines = (0...KeychainPreferences.mostSearched).map { "search k\($0)\n" }
        let text = "keychain preferences 1\n" + lines.joined()
        #expect(KeychainPreferenceFiles.preferences(text) == nil)
    }
}

/// The changes of all users' preferences by the one process that writes them.
@Suite struct KeychainPreferenceChangesTests {
    private let caller = Caller(
        user: geteuid(), process: 1, identity: .unknown, session: nil, terminal: nil,
        accessGroups: [])

    @Test func `of changes at once none is lost, and the next process reads them`() throws {
        let path = NSTemporaryDirectory() + "preferences-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        func opened() -> KeychainFolder {
            KeychainFolder(path, layout: .folderPerUser, accountName: { "user\($0)" })
        }
        let changed = opened()
        let aliases = (0..<8).map { "a\($0)" }
        DispatchQueue.concurrentPerform(iterations: aliases.count) { number in
            #expect(throws: Never.self) {
                try changed.changePreferences(of: caller) { $0.aliases[aliases[number]] = .login }
            }
        }
        for folder in [changed, opened()] {
            #expect(folder.preferences(of: caller).aliases.keys.sorted() == aliases)
        }
    }

    @Test func `a change that is refused leaves what was there`() throws {
        let path = NSTemporaryDirectory() + "preferences-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        let folder = KeychainFolder(path, layout: .ownUser, accountName: { "user\($0)" })
        try folder.changePreferences(of: caller) { $0.searchList = [.login] }
        #expect(throws: RequestError.state(.noSuchKeychain)) {
            try folder.changePreferences(of: caller) { changed throws(RequestError) in
                changed.searchList = []
                throw .state(.noSuchKeychain)
            }
        }
        #expect(folder.preferences(of: caller).searchList == [.login])
    }
}

/// The machine's keychain, by its name and for whom it is.
@Suite struct SystemKeychainTests {
    private func caller(
        _ identity: Caller.Identity, user: UInt32 = 1000, session: SessionID? = nil
    ) -> Caller {
        Caller(
            user: user, process: 1, identity: identity, session: session, terminal: nil,
            accessGroups: [])
    }

    @Test func `the kernel's word makes a program the machine's, its path does not`() {
        #expect(caller(.unit("shop.service")).isOfMachine)
        #expect(caller(.label("selinux:system_u:system_r:httpd_t:s0")).isOfMachine)
        for identity: Caller.Identity in [
            .trustedExecutable("/usr/bin/keychainctl"), .executable("/home/a/x"), .unknown,
            .label("snap:firefox"), .sandbox("flatpak:org.a"),
        ] {
            #expect(!caller(identity).isOfMachine)
            #expect(caller(identity, user: 0).isOfMachine)
        }
    }

    @Test func `its name leads every user to root's, and no user has another`() throws {
        let path = NSTemporaryDirectory() + "system-" + UUID().uuidString
        let all = KeychainFolder(
            path, layout: .folderPerUser, accountName: { "user\($0)" })
        #expect(try all.id(.system, of: 1000) == KeychainID(user: 0, name: .system))
        #expect(try all.id(.login, of: 1000) == KeychainID(user: 1000, name: .login))
        let manager = FileManager.default
        defer { try? manager.removeItem(atPath: path) }
        for user in ["0", "1000"] {
            try manager.createDirectory(
                atPath: path + "/" + user, withIntermediateDirectories: true)
            for name in ["login", "system"] {
                try Data([1]).write(to: URL(fileURLWithPath: "\(path)/\(user)/\(name).keychain"))
            }
        }
        #expect(all.names(of: 0) == [.login, .system])
        #expect(all.names(of: 1000) == [.login])
        let own = KeychainFolder(
            path + "/0", layout: .ownUser, accountName: { _ in "me" })
        #expect(own.names(of: geteuid()) == [.login])
        #expect(throws: RequestError.state(.noSuchKeychain)) { try own.id(.system, of: geteuid()) }
    }

    @Test func `a folder that serves one user opens no other's keychains, nor the machine's`()
        throws
    {
        let path = NSTemporaryDirectory() + "served-" + UUID().uuidString
        let manager = FileManager.default
        defer { try? manager.removeItem(atPath: path) }
        try manager.createDirectory(atPath: path, withIntermediateDirectories: false)
        func folder(_ user: UInt32?) -> KeychainFolder {
            KeychainFolder(path, layout: .folderPerUser, serving: user, accountName: { _ in "a" })
        }
        func protectors(_ folder: KeychainFolder) throws -> Protectors {
            Protectors(
                folder: folder, deviceKey: try Protectors.deviceKey(at: path + "/device.key"),
                allowsDeviceProtector: true)
        }
        let all = try protectors(folder(nil))
        for user: UInt32 in [0, 1000, 1001] { try all.create(.login, of: user, password: nil) }
        try all.create(.system, of: 0, password: nil)

        let roots = folder(0)
        let users = folder(1000)
        #expect(roots.hasSystemKeychain && roots.opensSystemKeychain)
        #expect(users.hasSystemKeychain && !users.opensSystemKeychain)
        #expect(try roots.keychain("system", of: 1000).isSystem)
        #expect(try users.keychain(nil, of: 1000).user == 1000)
        let system = KeychainID(user: 0, name: .system)
        #expect(try users.id(.system, of: 1000) == system)
        for opening: () throws -> OpenKeychain in [
            { try users.keychain("system", of: 1000) }, { try users.keychain(system, for: 0) },
            { try users.keychain(nil, of: 0) }, { try users.keychain(nil, of: 1001) },
            { try roots.keychain(nil, of: 1000) },
        ] {
            #expect(throws: RequestError.failed(.notAvailable)) { _ = try opening() }
        }
        #expect(throws: RequestError.failed(.notAvailable)) {
            _ = try users.removeOldFormerSecrets(of: system, now: 0)
        }
        try manager.removeItem(atPath: path + "/0")
        #expect(throws: RequestError.failed(.notAvailable)) {
            try protectors(users).create(.system, of: 0, password: nil)
        }
        #expect(!manager.fileExists(atPath: path + "/0"))
        #expect(users.keychains() == [KeychainID(user: 1000, name: .login)])
        #expect(users.filesBesideKeychains().keys.allSatisfy { $0.user == 1000 })
        #expect(users.names(of: 1001).isEmpty && users.keychainsWithoutFile().isEmpty)
        #expect(Set(folder(nil).keychains().map(\.user)) == [1000, 1001])
    }
}
