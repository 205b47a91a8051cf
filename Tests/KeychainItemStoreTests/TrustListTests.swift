// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import KeychainModel
import KeychainSecrets
import Testing

@testable import KeychainItemStore

private let git = "exe:/usr/bin/git"

private func application(
    _ identity: String = git, _ strength: ProgramStrength = .rootsFile, by: String? = nil
) -> TrustedApplication {
    TrustedApplication(identity, strength: strength, listedBy: by, listedAt: 794_000_000.5)
}

extension TestKeychain {
    fileprivate func add(
        _ item: NewItem, trusting list: TrustList?, group: String = "exe:/usr/bin/mail"
    ) throws {
        let new = SealedItem.new(
            item, in: group, .plain(item.accessible), trusting: list)
        _ = try file.add(
            new, HeldSecret(secret("s3cret")), try given(.encrypt, new), keys: keys())
    }

    fileprivate func accounts(
        _ scope: SearchScope, _ query: ItemQuery = query(), _ state: State = .unlocked
    ) throws -> [String] {
        try file.find(query, in: scope, keys: keys(state)).map(\.account)
    }

    fileprivate func change(_ trust: @escaping (TrustList?) -> TrustList?) throws {
        _ = try file.update(
            try find(query()).map(\.meant), ItemChange(), nil, keys: keys(), trust: trust
        ) { grant(.decrypt, $0) }
    }
}

@Suite struct TrustListTests {
    private let caller = Caller.Identity.trustedExecutable("/usr/bin/git")

    @Test func `a list keeps one entry for a program, the last`() {
        var list = TrustList([application("unit:b.service", .guarded), application(by: "x")])
        list.add(application(git, .weak))
        #expect(list.applications.map(\.identity) == [git, "unit:b.service"])
        #expect(list.applications[0] == application(git, .weak))
        list.remove(git)
        list.remove(git)
        #expect(list.applications.map(\.identity) == ["unit:b.service"])
    }

    @Test func `who is guarded less than the listed program is another`() {
        let roots = TrustList([application(git, .rootsFile)])
        #expect(roots.names(.trustedExecutable("/usr/bin/git")))
        #expect(!roots.names(.executable("/usr/bin/git")))
        #expect(!roots.names(.trustedExecutable("/usr/bin/git2")))
        #expect(TrustList([application(git, .weak)]).names(.executable("/usr/bin/git")))
        let unit = TrustList([application("unit:shop.service", .guarded)])
        #expect(unit.names(.unit("shop.service")))
        #expect(!unit.names(.unit("shop2.service")))
        for list in [roots, unit, TrustList()] { #expect(!list.names(.unknown)) }
    }

    @Test func `an interpreter is never better guarded than what it runs`() {
        for path in [
            "/usr/bin/python3.13", "/bin/bash", "/usr/bin/perl", "/lib64/ld-linux-x86-64.so.2",
            "/usr/bin/perl5.36-x86_64-linux-gnu", "/usr/bin/gjs-console", "/usr/bin/vim.basic",
            "/usr/bin/nvim", "/usr/lib/erlang/erts-13.1/bin/beam.smp", "/usr/bin/mono-sgen",
            "/usr/lib/R/bin/exec/R", "/usr/bin/emacs-gtk", "/usr/bin/octave-cli-7.3.0",
            "/usr/lib/electron28/electron", "/usr/lib/qt6/bin/qml", "/usr/bin/guile-3.0",
        ] {
            #expect(Caller.Identity.trustedExecutable(path).strength == .weak, "\(path)")
        }
    }

    @Test(arguments: [
        "/usr/bin/ssh", "/usr/bin/pythonic", "/usr/bin/git-shell", "/usr/bin/js8call",
        "/usr/bin/prometheus-node-exporter", "/usr/bin/emacsclient", "/opt/python/app",
    ])
    func `a program whose name only begins or ends like an interpreter's is none`(_ path: String) {
        #expect(Caller.Identity.trustedExecutable(path).strength == .rootsFile)
    }

    @Test func `strength is that of a file of root's, and an unknown program has none`() {
        #expect(Caller.Identity.trustedExecutable("/usr/bin/git").strength == .rootsFile)
        #expect(Caller.Identity.unknown.strength == nil)
    }

    @Test func `a list survives its encoding, and damage is noticed`() throws {
        for list in [
            TrustList(), TrustList([application()]),
            TrustList([
                application("unit:ä.service", .guarded, by: "exe:/usr/bin/b"), application(),
            ]),
        ] {
            let bytes = try list.encoded()
            #expect(try TrustList(decoding: bytes) == list)
            for count in bytes.indices {
                #expect(throws: MalformedBytes.self) {
                    try TrustList(decoding: Array(bytes[..<count]))
                }
            }
            #expect(throws: MalformedBytes.self) { try TrustList(decoding: bytes + [0]) }
        }
        // One list has one encoding: in order, each program once.
        let one = try TrustList([application()]).encoded().dropFirst()
        #expect(throws: MalformedBytes.self) { try TrustList(decoding: [2] + one + one) }
    }

    @Test func `a list has a length, and a name has one`() throws {
        let many = (0...TrustList.mostApplications).map { application("exe:/\($0)") }
        #expect(throws: KeychainStoreError.tooLarge) { try TrustList(many).encoded() }
        _ = try TrustList(many.dropLast()).encoded()
        let long = String(repeating: "x", count: TrustedApplication.longestIdentity + 1)
        #expect(throws: KeychainStoreError.tooLarge) {
            try TrustList([application(long)]).encoded()
        }
    }

    @Test func `an item's list is read back, and none is none`() throws {
        let keychain = try TestKeychain()
        let list = TrustList([application(by: "exe:/usr/bin/mail")])
        try keychain.add(generic("mail", "one"), trusting: list)
        try keychain.add(generic("mail", "two"), trusting: TrustList())
        try keychain.add(generic("mail", "three"), trusting: nil)
        let found = try keychain.find(query())
        #expect(found.map(\.trusted) == [list, TrustList(), nil])
        #expect(found.map(\.found.trusted) == [list, TrustList(), nil])
    }

    @Test func `a listed program finds the items that name it, by the index too`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic("mail", "one"), trusting: TrustList([application()]))
        try keychain.add(generic("mail", "two"), trusting: TrustList([application("exe:/x")]))
        try keychain.add(generic("mail", "three"), trusting: TrustList())
        try keychain.add(generic("mail", "four"), trusting: nil)
        let scope = SearchScope.trusting(caller, besides: [])
        #expect(try keychain.accounts(scope) == ["one"])
        let exact = query(.genericPassword, [.service: .string("mail"), .account: .string("one")])
        #expect(try keychain.accounts(scope, exact) == ["one"])
        let named = query(.genericPassword, [.account: .string("two")])
        #expect(try keychain.accounts(scope, named).isEmpty)
        // What the caller has in a group of its own is found there and not twice.
        #expect(try keychain.accounts(.trusting(caller, besides: [TestKeychain.group])).isEmpty)
        #expect(try keychain.accounts(.trusting(.unknown, besides: [])).isEmpty)
    }

    @Test func `an entry that was made for a better guarded program is not met by its path`() throws
    {
        let keychain = try TestKeychain()
        try keychain.add(generic(), trusting: TrustList([application()]))
        let weak = Caller.Identity.executable("/usr/bin/git")
        #expect(try keychain.accounts(.trusting(weak, besides: [])).isEmpty)
    }

    @Test func `what may be asked for are items with a list, of others`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic("mail", "one"), trusting: TrustList([application()]))
        try keychain.add(generic("mail", "two"), trusting: TrustList())
        try keychain.add(generic("mail", "three"), trusting: nil)
        try keychain.add(generic("mail", "own"), trusting: TrustList(), group: "mine")
        #expect(try keychain.accounts(.askable(besides: ["mine"])) == ["one", "two"])
    }

    @Test func `a group's search sees nothing of lists`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic(), trusting: TrustList([application()]))
        #expect(try keychain.find(query(), groups: [git, "", "mine"]).isEmpty)
    }

    @Test func `a changed list counts from the next search on`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic(), trusting: nil)
        func entries() throws -> Int { try keychain.rows("SELECT count(*) FROM token")[0][0] }
        let before = try entries()
        let scope = SearchScope.trusting(caller, besides: [])
        #expect(try keychain.accounts(scope).isEmpty)
        try keychain.change { TrustList(($0?.applications ?? []) + [application()]) }
        #expect(try keychain.accounts(scope) == ["zoe"])
        let changed = try #require(try keychain.find(query()).first)
        #expect(changed.generation == 2)
        #expect(try keychain.open(changed) == "s3cret")
        try keychain.change { _ in TrustList() }
        #expect(try keychain.accounts(scope).isEmpty)
        #expect(try keychain.accounts(.askable(besides: [])) == ["zoe"])
        try keychain.change { _ in nil }
        #expect(try keychain.accounts(.askable(besides: [])).isEmpty)
        #expect(try entries() == before)
    }

    @Test func `any other change keeps the list`() throws {
        let keychain = try TestKeychain()
        let list = TrustList([application()])
        try keychain.add(generic(), trusting: list)
        var change = ItemChange()
        change.attributes = [.label: .string("L")]
        try keychain.update(query(), change, "new")
        #expect(try keychain.find(query())[0].trusted == list)
        #expect(try keychain.accounts(.trusting(caller, besides: [])) == ["zoe"])
    }

    @Test func `too long a list changes nothing`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic(), trusting: TrustList([application()]))
        let many = (0...TrustList.mostApplications).map { application("exe:/\($0)") }
        #expect(throws: KeychainStoreError.tooLarge) {
            try keychain.change { _ in TrustList(many) }
        }
        #expect(try keychain.find(query())[0].trusted == TrustList([application()]))
    }

    @Test func `a row with another item's list is damaged`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic("mail", "one"), trusting: TrustList([application()]))
        try keychain.add(generic("mail", "two"), trusting: nil)
        try keychain.tamper(
            "UPDATE item SET attributes = (SELECT attributes FROM item WHERE id = 1) WHERE id = 2")
        #expect(try keychain.find(query()).map(\.account) == ["one"])
    }

    @Test func `an older list does not go with the newer secret`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic(), trusting: TrustList([application()]))
        let old = try keychain.rows("SELECT attributes FROM item")[0][0] as Data
        try keychain.change { _ in TrustList() }
        try keychain.tamper("UPDATE item SET attributes = ?", [old])
        #expect(try keychain.find(query()).isEmpty)
        // Nor with its number of then.
        try keychain.tamper("UPDATE item SET generation = 1")
        let found = try #require(try keychain.find(query()).first)
        #expect(throws: KeychainStoreError.corruptItem) { try keychain.open(found) }
    }

    @Test func `while it is locked the index tells of nothing`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic(), trusting: TrustList([application()]))
        #expect(throws: KeychainStoreError.locked) {
            try keychain.accounts(.trusting(caller, besides: []), query(), .locked)
        }
        let other = Caller.Identity.trustedExecutable("/usr/bin/other")
        #expect(try keychain.accounts(.trusting(other, besides: []), query(), .locked).isEmpty)
    }
}
