// SPDX-License-Identifier: Apache-2.0
import GRDB
import KeychainModel
import KeychainSecrets
import Testing

@testable import KeychainItemStore

@Suite struct UpdateTests {
    private func change(_ attributes: Attributes) -> ItemChange {
        var change = ItemChange()
        change.attributes = attributes
        return change
    }

    @Test func `an update changes what it names and keeps the rest`() throws {
        let keychain = try TestKeychain()
        let added = try keychain.add(generic("mail", "zoe", label: "Mail"), "old")
        try keychain.update(query(), change([.label: .string("Post")]))
        let found = try #require(try keychain.find(query()).first)
        #expect(found.reference == added.reference)
        #expect(found.generation == 2)
        #expect(found.attributes[.label] == .string("Post"))
        #expect(found.attributes[.account] == .string("zoe"))
        #expect(try keychain.open(found) == "old")
        #expect(try keychain.find(query(.genericPassword, [.label: .string("Mail")])).isEmpty)
        #expect(try keychain.find(query(.genericPassword, [.label: .string("Post")])).count == 1)
    }

    @Test func `a new secret replaces the old one, even an empty or a large one`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic(), nil)
        for text in ["new", "", String(repeating: "l", count: 50_000)] {
            try keychain.update(query(), ItemChange(), text)
            #expect(try keychain.open(try #require(try keychain.find(query()).first)) == text)
        }
        // Kept, although it was not read along.
        try keychain.update(query(), change([.label: .string("L")]))
        #expect(try keychain.open(keychain.find(query())[0])?.utf8.count == 50_000)
    }

    @Test func `an item without a secret stays without one`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic(), nil)
        try keychain.update(query(), change([.label: .string("L")]))
        #expect(try keychain.find(query())[0].hasSecret == false)
    }

    @Test func `modification always comes later than before`() throws {
        #expect(AttributeRecord.modificationDate(after: 10, now: 20) == 20)
        #expect(AttributeRecord.modificationDate(after: 10, now: 10) == 10.001)
        #expect(AttributeRecord.modificationDate(after: 10, now: 5) == 10.001)
        let keychain = try TestKeychain()
        try keychain.add(generic())
        var last = -Double.infinity
        for _ in 0..<10 {
            guard
                case .date(let date)? = try keychain.find(query())[0].attributes[.modificationDate]
            else { throw KeychainStoreError.notFound }
            #expect(date >= last + 0.001)
            last = date
            try keychain.update(query(), ItemChange())
        }
    }

    @Test func `a creation date is taken over, a modification date is not`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic())
        try keychain.update(
            query(), change([.creationDate: .date(5), .modificationDate: .date(6)]))
        let found = try keychain.find(query())[0]
        #expect(found.attributes[.creationDate] == .date(5))
        #expect(found.attributes[.modificationDate] != .date(6))
        #expect(throws: KeychainStoreError.badChange) {
            try keychain.update(query(), change([.creationDate: .string("yesterday")]))
        }
    }

    @Test func `attributes that the class has not, or that are refused, change nothing`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic("mail", "zoe", label: "Mail"))
        for name in [AttributeName.server, .sharingGroup, AttributeName(rawValue: "none")] {
            #expect(throws: KeychainStoreError.badChange) {
                try keychain.update(
                    query(), change([name: .string("x"), .label: .string("Post")]))
            }
        }
        try keychain.update(query(), change([.multiUser: .data([1])]))
        let found = try keychain.find(query())[0]
        #expect(found.attributes[.multiUser] == nil)
        #expect(found.attributes[.label] == .string("Mail"))
    }

    @Test func `a change into another item's name changes no item at all`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic("post", "one"))
        try keychain.add(generic("post", "two"))
        try keychain.add(generic("mail", "two"))
        #expect(throws: KeychainStoreError.duplicate) {
            try keychain.update(
                query(.genericPassword, [.service: .string("post")]),
                change([.service: .string("mail"), .label: .string("L")]))
        }
        #expect(try keychain.find(query(.genericPassword, [.label: .string("L")])).isEmpty)
        #expect(
            try keychain.find(query(.genericPassword, [.service: .string("post")])).count == 2)
    }

    @Test func `two items cannot be changed into one`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic("mail", "one"))
        try keychain.add(generic("mail", "two"))
        #expect(throws: KeychainStoreError.duplicate) {
            try keychain.update(query(), change([.account: .string("zoe")]))
        }
        #expect(try keychain.find(query()).map(\.account) == ["one", "two"])
    }

    @Test func `a damaged item in the way gives way`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic("mail", "zoe"))
        try keychain.tamper("UPDATE item SET attributes = zeroblob(200)")
        try keychain.add(generic("post", "zoe"))
        try keychain.update(query(), change([.service: .string("mail")]))
        #expect(try keychain.file.itemCount() == 1)
    }

    @Test(arguments: Accessibility.allCases)
    func `another accessibility seals the item under another key`(
        _ accessible: Accessibility
    ) throws {
        let keychain = try TestKeychain()
        let start: Accessibility = accessible == .whenUnlocked ? .always : .whenUnlocked
        try keychain.add(generic("mail", "zoe", accessible: start), "s3cret")
        var change = ItemChange()
        change.accessible = accessible
        try keychain.update(query(), change)
        let found = try #require(try keychain.find(query()).first)
        #expect(found.accessControl == .plain(accessible))
        #expect(try keychain.open(found) == "s3cret")
        #expect(try keychain.rows("SELECT accessible FROM item")[0][0] == accessible.rawValue)
        #expect(throws: KeychainStoreError.duplicate) { try keychain.add(generic()) }
    }

    @Test func `another accessibility keeps constraints, password and enrolment`() throws {
        func rights(_ protection: Accessibility) -> ItemAccessControl {
            ItemAccessControl(
                protection: protection,
                operations: [.decrypt: .biometryCurrentSet, .encrypt: .always],
                defaultOperation: nil, needsApplicationPassword: true,
                boundBiometry: [UInt8](repeating: 7, count: 32))
        }
        var change = ItemChange()
        change.accessible = .afterFirstUnlock
        var record = AttributeRecord(new: generic(), in: "group", rights(.whenUnlocked))
        try record.apply(change, .genericPassword)
        #expect(record.accessControl == rights(.afterFirstUnlock))
    }

    @Test func `another accessibility seals a guarded secret anew, under its constraints`() throws {
        func rights(_ protection: Accessibility) -> ItemAccessControl {
            ItemAccessControl(
                protection: protection,
                operations: [.decrypt: .userPresence, .encrypt: .always, .delete: .always],
                defaultOperation: nil)
        }
        let keychain = try TestKeychain()
        var item = generic()
        item.accessControl = rights(.whenUnlocked)
        try keychain.add(item, "s3cret")
        var change = ItemChange()
        change.accessible = .afterFirstUnlock
        try keychain.update(query(), change)
        let found = try keychain.find(query())[0]
        #expect(found.accessControl == rights(.afterFirstUnlock))
        #expect(try keychain.open(found) == "s3cret")
    }

    @Test func `new rights bind the secret anew`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic(), "s3cret")
        let rights = ItemAccessControl(
            protection: .whenPasscodeSetThisDeviceOnly,
            operations: [.decrypt: .userPresence, .encrypt: .always, .delete: .always],
            defaultOperation: nil)
        var change = ItemChange()
        change.accessControl = rights
        try keychain.update(query(), change)
        let found = try keychain.find(query())[0]
        #expect(found.accessControl == rights)
        #expect(try keychain.open(found) == "s3cret")
    }

    @Test func `an item moves to another group and back`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic())
        var change = ItemChange()
        change.accessGroup = "team"
        change.isSynchronizable = true
        try keychain.update(query(), change)
        #expect(try keychain.find(query()).isEmpty)
        var search = query()
        search.synchronizable = .yes
        #expect(try keychain.find(search, groups: ["team"]).first?.accessGroup == "team")
    }

    @Test func `a change that leaves the names alone leaves the index alone`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic())
        let before = try keychain.rows("SELECT token, item FROM token ORDER BY token")
        try keychain.update(query(), change([.comment: .string("c")]), "new")
        #expect(try keychain.rows("SELECT token, item FROM token ORDER BY token") == before)
    }

    @Test func `nothing found is told`() throws {
        let keychain = try TestKeychain()
        #expect(throws: KeychainStoreError.notFound) {
            try keychain.update(query(), ItemChange())
        }
    }

    @Test func `an item that changed since it was found is judged and matched again`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic("mail", "one"))
        try keychain.add(generic("mail", "two"))
        let found = try keychain.find(query(.genericPassword, [.service: .string("mail")]))
        try keychain.update(
            query(.genericPassword, [.account: .string("one")]),
            change([.service: .string("post")]))
        try keychain.update(
            query(.genericPassword, [.account: .string("two")]), change([.label: .string("New")]))
        var judged: [SealedItem] = []
        let count = try keychain.file.update(
            found.map(\.meant), change([.comment: .string("c")]), nil, keys: keychain.keys()
        ) { item in
            judged.append(item)
            return grant(.decrypt, item)
        }
        #expect(count == 1)
        #expect(judged.map(\.account) == ["two"])
        #expect(judged.first?.attributes[.label] == .string("New"))
    }

    @Test func `a refused grant changes nothing`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic("mail", "one"))
        try keychain.add(generic("mail", "two"))
        let found = try keychain.find(query())
        #expect(throws: KeychainStoreError.notGranted) {
            try keychain.file.update(
                found.map(\.meant), change([.label: .string("L")]), nil, keys: keychain.keys()
            ) { item in item.account == "one" ? grant(.decrypt, item) : nil }
        }
        #expect(try keychain.find(query()).allSatisfy { $0.attributes[.label] == nil })
    }
}
