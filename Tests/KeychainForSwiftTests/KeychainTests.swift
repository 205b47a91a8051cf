// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainForSwift
import Testing

@Suite struct KeychainCalls {
    private let keychain = Keychain(service: freshService())

    @Test func `a value goes in, changes and goes out`() async throws {
        #expect(try await keychain.find("joe", as: String.self) == nil)
        try await keychain.insert("secret", for: "joe")
        #expect(try await keychain.find("joe") == "secret")
        try await keychain.update("other", for: "joe")
        #expect(try await keychain.find("joe") == "other")
        #expect(try await keychain.remove("joe"))
        #expect(try await keychain.find("joe", as: String.self) == nil)
        #expect(try await !keychain.remove("joe"))
    }

    @Test func `insert refuses an account that has a value, and update one that has none`()
        async throws
    {
        try await keychain.insert("secret", for: "joe")
        await #expect(throws: KeychainError(status: errSecDuplicateItem)) {
            try await keychain.insert("other", for: "joe")
        }
        await #expect(throws: KeychainError(status: errSecItemNotFound)) {
            try await keychain.update("other", for: "jane")
        }
        #expect(try await keychain.find("joe") == "secret")
    }

    @Test func `set adds or replaces, whatever is there`() async throws {
        try await keychain.set("first", for: "joe")
        try await keychain.set("second", for: "joe")
        #expect(try await keychain.find("joe") == "second")
        #expect(try await keychain.all().count == 1)
    }

    @Test func `set replaces the protection too, update keeps it`() async throws {
        let later = Keychain(
            service: keychain.service, protection: .accessible(.afterFirstUnlock))
        try await later.insert("secret", for: "joe")
        try await keychain.update("other", for: "joe")
        #expect(try await keychain.all().map(\.accessibility) == [.afterFirstUnlock])
        try await keychain.set("third", for: "joe")
        #expect(try await keychain.all().map(\.accessibility) == [.whenUnlocked])
    }

    @Test func `contains tells accounts apart, and services`() async throws {
        try await keychain.insert("secret", for: "joe")
        #expect(try await keychain.contains("joe"))
        #expect(try await !keychain.contains("Joe"))
        #expect(try await !Keychain(service: freshService()).contains("joe"))
    }

    @Test func `all lists the items of the service with what is known of them`() async throws {
        let start = Date()
        try await keychain.insert("1", for: "joe")
        try await keychain.insert("2", for: "jane")
        try await Keychain(service: freshService()).insert("3", for: "jim")
        let items = try await keychain.all()
        #expect(Set(items.map(\.account)) == ["joe", "jane"])
        let item = try #require(items.first)
        #expect(item.accessGroup == TestKeychain.groups.first)
        #expect(item.created >= start - 1 && item.modified >= item.created)
        #expect(item.persistentReference.count == 20)
        #expect(try await keychain.removeAll() == 2)
        #expect(try await keychain.all().isEmpty)
        #expect(try await keychain.removeAll() == 0)
    }

    @Test func `an access group keeps its items apart`() async throws {
        let second = Keychain(
            service: keychain.service, accessGroup: TestKeychain.groups[1])
        try await second.insert("second", for: "joe")
        try await keychain.insert("first", for: "joe")
        #expect(try await second.find("joe") == "second")
        #expect(try await second.all().map(\.accessGroup) == [TestKeychain.groups[1]])
        #expect(try await keychain.all().count == 2)
        let foreign = Keychain(service: keychain.service, accessGroup: "of.others")
        await #expect(throws: KeychainError(status: errSecMissingEntitlement)) {
            try await foreign.insert("x", for: "joe")
        }
    }

    @Test func `what needs a password is refused on a keychain without one`() async {
        let guarded = Keychain(
            service: keychain.service,
            protection: .requiring(.userPresence, .whenPasscodeSetThisDeviceOnly))
        await #expect(throws: KeychainError(status: errSecNotAvailable)) {
            try await guarded.insert("secret", for: "joe")
        }
    }

    @Test func `flags that contradict each other are refused`() async {
        let contradiction = Keychain(
            service: keychain.service, protection: .requiring([.or, .and, .devicePasscode]))
        await #expect(throws: KeychainError(status: errSecParam)) {
            try await contradiction.insert("secret", for: "joe")
        }
        await #expect(throws: KeychainError(status: errSecParam)) {
            try await contradiction.set("secret", for: "joe")
        }
    }

    @Test(arguments: Keychain.Accessibility.allCases)
    func `an item has the accessibility that it was added with`(
        accessibility: Keychain.Accessibility
    ) async throws {
        let keychain = Keychain(
            service: freshService(), protection: .accessible(accessibility))
        guard accessibility != .whenPasscodeSetThisDeviceOnly else {
            await #expect(throws: KeychainError(status: errSecNotAvailable)) {
                try await keychain.insert("x", for: "joe")
            }
            return
        }
        try await keychain.insert("x", for: "joe")
        #expect(try await keychain.all().map(\.accessibility) == [accessibility])
    }

    @Test func `passwords are kept by service and account`() async throws {
        let service = freshService()
        try await Keychain.setPassword("first", forService: service, account: "joe")
        try await Keychain.setPassword("second", forService: service, account: "joe")
        #expect(try await Keychain.password(forService: service, account: "joe") == "second")
        #expect(try await Keychain.password(forService: service, account: "jane") == nil)
        #expect(try await Keychain.deletePassword(forService: service, account: "joe"))
        #expect(try await !Keychain.deletePassword(forService: service, account: "joe"))
    }

    @Test func `both faces see the same items`() async throws {
        try await keychain.insert("secret", for: "joe")
        let (status, result) = copyMatching(
            query(keychain.service).with([kSecReturnData as String: true]))
        #expect(status == errSecSuccess)
        #expect(result as? Data == Data("secret".utf8))
        let own = freshService()
        #expect(add(password(own)) == errSecSuccess)
        #expect(try await Keychain(service: own).find("joe") == "secret")
    }
}
