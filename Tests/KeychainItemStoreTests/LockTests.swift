// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import Testing

@testable import KeychainItemStore

/// What each class does in each state of the keychain.
@Suite struct LockTests {
    private static let table: [(Accessibility, TestKeychain.State, Bool)] =
        Accessibility.allCases.flatMap { accessible in
            [
                (accessible, .unlocked, true),
                (accessible, .locked, accessible.availability != .whileUnlocked),
                (accessible, .beforeFirstUnlock, accessible.availability == .always),
            ]
        }

    @Test(arguments: table)
    func `items of a class are read in its time only`(
        _ accessible: Accessibility, _ state: TestKeychain.State, _ isOpen: Bool
    ) throws {
        let keychain = try TestKeychain()
        try keychain.add(generic("mail", "zoe", accessible: accessible), "s3cret")
        let search = query(.genericPassword, [.account: .string("zoe")], limit: 1)
        if isOpen {
            let found = try keychain.find(search, state: state)
            #expect(try keychain.open(try #require(found.first), state: state) == "s3cret")
        } else {
            #expect(throws: KeychainStoreError.locked) {
                try keychain.find(search, state: state)
            }
            let found = try #require(try keychain.find(search).first)
            #expect(throws: KeychainStoreError.locked) {
                _ = try keychain.open(found, state: state)
            }
            let current = try keychain.find(search)
            #expect(throws: KeychainStoreError.locked) {
                _ = try keychain.file.update(
                    current.map(\.meant), ItemChange(), nil, keys: keychain.keys(state)
                ) { grant(.decrypt, $0) }
            }
        }
    }

    @Test(arguments: table)
    func `items of a class are added in its time only`(
        _ accessible: Accessibility, _ state: TestKeychain.State, _ isOpen: Bool
    ) throws {
        let keychain = try TestKeychain()
        let item = generic("mail", "zoe", accessible: accessible)
        if isOpen {
            try keychain.add(item, state: state)
            #expect(throws: KeychainStoreError.duplicate) { try keychain.add(item) }
        } else {
            // Locked comes before duplicate.
            try keychain.add(item)
            #expect(throws: KeychainStoreError.locked) { try keychain.add(item, state: state) }
        }
    }

    @Test func `one locked item among those found ends the search`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic("mail", "open", accessible: .afterFirstUnlock))
        try keychain.add(generic("mail", "closed", accessible: .whenUnlocked))
        let both = query(.genericPassword, [.service: .string("mail")])
        #expect(throws: KeychainStoreError.locked) { try keychain.find(both, state: .locked) }
        var delivered = 0
        #expect(throws: KeychainStoreError.locked) {
            try keychain.file.forEach(
                both, groups: [TestKeychain.group], keys: keychain.keys(.locked)
            ) { _ in
                delivered += 1
                return true
            }
        }
        #expect(delivered == 0)
        let one = query(.genericPassword, [.account: .string("open")])
        #expect(try keychain.find(one, state: .locked).count == 1)
    }

    @Test func `a locked item that is not meant disturbs no search`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic("mail", "open", accessible: .afterFirstUnlock))
        try keychain.add(generic("mail", "closed", label: "L", accessible: .whenUnlocked))
        try keychain.add(generic("mail", "theirs"), group: "other")
        var search = query()
        search.accessible = .afterFirstUnlock
        #expect(try keychain.find(search, state: .locked).count == 1)
        let reference = try keychain.find(query(), groups: ["other"])[0].reference
        search = query()
        search.references = [reference]
        #expect(try keychain.find(search, state: .locked).isEmpty)
    }

    @Test func `before the first unlock closed items of the class end every wider search`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic("mail", "open", accessible: .always))
        let all = query()
        let one = query(.genericPassword, [.account: .string("open")], limit: 1)
        let none = query(.genericPassword, [.account: .string("none")], limit: 1)
        for search in [all, one] {
            #expect(try keychain.find(search, state: .beforeFirstUnlock).count == 1)
        }
        #expect(try keychain.find(none, state: .beforeFirstUnlock).isEmpty)
        try keychain.add(generic("mail", "closed"))
        #expect(try keychain.find(one, state: .beforeFirstUnlock).count == 1)
        for search in [all, none] {
            #expect(throws: KeychainStoreError.locked) {
                try keychain.find(search, state: .beforeFirstUnlock)
            }
        }
        #expect(throws: KeychainStoreError.locked) {
            try keychain.file.forEach(
                all, groups: [TestKeychain.group], keys: keychain.keys(.beforeFirstUnlock)
            ) { _ in true }
        }
        var always = query()
        always.accessible = .always
        #expect(try keychain.find(always, state: .beforeFirstUnlock).count == 1)
        #expect(try keychain.find(query(.internetPassword), state: .beforeFirstUnlock).isEmpty)
    }

    @Test func `an always item is not added while it may have a closed double`() throws {
        let keychain = try TestKeychain()
        try keychain.add(
            generic("mail", "one", accessible: .always), state: .beforeFirstUnlock)
        try keychain.add(generic("mail", "two"))
        #expect(throws: KeychainStoreError.locked) {
            try keychain.add(
                generic("mail", "three", accessible: .always), state: .beforeFirstUnlock)
        }
        try keychain.add(generic("mail", "three", accessible: .always), state: .locked)
        var item = internet("example.org", "zoe")
        item.accessible = .always
        try keychain.add(item, state: .beforeFirstUnlock)
    }
}
