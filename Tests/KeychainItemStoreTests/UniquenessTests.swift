// SPDX-License-Identifier: Apache-2.0
import GRDB
import KeychainModel
import Testing

@testable import KeychainItemStore

@Suite struct UniquenessTests {
    @Test func `the same account and service again is a duplicate, whatever else differs`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic("mail", "zoe"), "first")
        for accessible in Accessibility.allCases {
            #expect(throws: KeychainStoreError.duplicate) {
                try keychain.add(generic("mail", "zoe", label: "L", accessible: accessible))
            }
        }
        var data = generic("mail", "zoe")
        data.attributes[.account] = .data(Array("zoe".utf8))
        #expect(throws: KeychainStoreError.duplicate) { try keychain.add(data) }
        let found = try keychain.find(query())
        #expect(found.count == 1)
        #expect(try keychain.open(found[0]) == "first")
    }

    @Test func `items of different families are duplicates of each other`() throws {
        for (first, second) in [
            (Accessibility.always, Accessibility.whenUnlocked),
            (.afterFirstUnlock, .alwaysThisDeviceOnly),
        ] {
            let keychain = try TestKeychain()
            try keychain.add(generic("mail", "zoe", accessible: first))
            #expect(throws: KeychainStoreError.duplicate) {
                try keychain.add(generic("mail", "zoe", accessible: second))
            }
        }
    }

    @Test func `the same name in another group, or synchronizable, is another item`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic())
        try keychain.add(generic(), group: "other")
        var synced = generic()
        synced.isSynchronizable = true
        try keychain.add(synced)
        for name in [AttributeName.tokenID, .syncViewHint, .sharingGroup] {
            var item = generic()
            item.attributes[name] = .string("x")
            try keychain.add(item)
            #expect(throws: KeychainStoreError.duplicate) { try keychain.add(item) }
        }
        #expect(try keychain.file.itemCount() == 6)
    }

    @Test func `an empty key attribute is as good as none`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic())
        var item = generic()
        item.attributes[.tokenID] = .string("")
        item.attributes[.multiUser] = .data([])
        #expect(throws: KeychainStoreError.duplicate) { try keychain.add(item) }
        try keychain.add(NewItem(.genericPassword))
        var empty = NewItem(.genericPassword)
        empty.attributes = [.service: .string(""), .account: .data([])]
        #expect(throws: KeychainStoreError.duplicate) { try keychain.add(empty) }
    }

    @Test(arguments: [
        AttributeName.account, .server, .path, .securityDomain, .authenticationType,
        .networkProtocol, .port,
    ])
    func `an internet password is told apart by each of its key attributes`(
        _ name: AttributeName
    ) throws {
        let keychain = try TestKeychain()
        var item = internet("example.org", "zoe", port: 443)
        try keychain.add(item)
        #expect(throws: KeychainStoreError.duplicate) { try keychain.add(item) }
        item.attributes[name] = .string("other")
        try keychain.add(item)
        #expect(try keychain.find(query(.internetPassword)).count == 2)
    }

    @Test func `a port's number and its digits as text are two values`() throws {
        let keychain = try TestKeychain()
        try keychain.add(internet("example.org", "zoe", port: 443))
        var item = internet("example.org", "zoe")
        item.attributes[.port] = .string("443")
        try keychain.add(item)
        #expect(try keychain.file.itemCount() == 2)
    }

    @Test func `values cannot be shifted from one key attribute into the next`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic("ab", "c"))
        try keychain.add(generic("a", "bc"))
        let found = try keychain.find(
            query(.genericPassword, [.service: .string("a"), .account: .string("bc")]))
        #expect(found.count == 1)
    }

    @Test func `a damaged item gives way to a new one of the same name`() throws {
        let keychain = try TestKeychain()
        for column in ["attributes", "secret"] {
            try keychain.add(generic("mail", column), "old")
            try keychain.tamper("UPDATE item SET \(column) = zeroblob(200) WHERE generation = 1")
            try keychain.add(generic("mail", column), "new")
            let found = try keychain.find(query())
            #expect(found.map(\.account) == [column])
            #expect(try keychain.open(found[0]) == "new")
            try keychain.delete(query())
        }
    }

    @Test func `an item whose class is locked is no damaged one`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic("mail", "zoe", accessible: .whenUnlocked), "old")
        #expect(throws: KeychainStoreError.duplicate) {
            try keychain.add(
                generic("mail", "zoe", accessible: .afterFirstUnlock), "n", state: .locked)
        }
        #expect(try keychain.open(keychain.find(query())[0]) == "old")
    }

    @Test func `an item lost with the password gives way to a new one`() throws {
        let keychain = try TestKeychain()
        try keychain.add(
            generic("mail", "zoe", accessible: .whenPasscodeSetThisDeviceOnly), "old")
        let unlocked = try keychain.file.unlock(
            password: secret(TestKeychain.password), deviceSecret: nil)
        let keys = ClassKeys(
            always: try keychain.file.alwaysKeys(deviceKey: keychain.deviceKey),
            afterFirstUnlock: unlocked.afterFirstUnlock.copy(),
            whileUnlocked: unlocked.whileUnlocked.copy())
        func add() throws {
            let new = SealedItem.new(generic(), in: TestKeychain.group, .plain(.whenUnlocked))
            let grant = try given(.encrypt, new)
            _ = try keychain.file.add(new, nil, grant, keys: keys)
        }
        // The class key is out of reach for now, and may come back.
        #expect(throws: KeychainStoreError.duplicate) { try add() }
        try keychain.tamper("DELETE FROM keybag WHERE name LIKE 'protector:password:%'")
        try add()
        #expect(try keychain.file.itemCount() == 1)
    }
}
