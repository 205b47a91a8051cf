// SPDX-License-Identifier: Apache-2.0
import Foundation
import Security
import Testing

@Suite struct References {
    private func persistentReference(_ item: [String: Any]) throws -> Data {
        var result: CFTypeRef?
        let wanted = item.with([kSecReturnPersistentRef as String: true])
        #expect(SecItemAdd(wanted as CFDictionary, &result) == errSecSuccess)
        return try #require(result as? Data)
    }

    @Test func `a persistent reference names its item through every change`() throws {
        let service = freshService()
        let reference = try persistentReference(password(service).with(["sync": 1]))
        #expect(reference.count == 20 && reference.prefix(4) == Data("genp".utf8))
        let named: [String: Any] = [kSecValuePersistentRef as String: reference]
        let data = named.with([kSecReturnData as String: true])
        #expect(copyMatching(data).result as? Data == Data("secret".utf8))
        #expect(update(named, ["acct": "renamed", "v_Data": Data("new".utf8)]) == errSecSuccess)
        #expect(copyMatching(data).result as? Data == Data("new".utf8))
        #expect(delete(named.with(["acct": "joe"])) == errSecItemNotFound)
        #expect(delete(named.with(["acct": "renamed"])) == errSecSuccess)
        #expect(copyMatching(named).status == errSecItemNotFound)
        #expect(try persistentReference(password(service)) != reference)
    }

    @Test func `items are found first and read one by one`() throws {
        let service = freshService()
        for account in ["a", "b"] { #expect(add(password(service, account: account)) == 0) }
        let all = query(service).with(["m_Limit": "m_LimitAll", "r_Ref": true])
        let items = try #require(copyMatching(all).result as? [SecKeychainItem])
        #expect(items.count == 2)
        for item in items {
            let found = copyMatching([kSecValueRef as String: item, "r_Data": true])
            #expect(found.result as? Data == Data("secret".utf8))
        }
        #expect(delete([kSecValueRef as String: items[0]]) == errSecSuccess)
        #expect(copyMatching([kSecValueRef as String: items[0]]).status == errSecItemNotFound)
        #expect(copyMatching([kSecValueRef as String: items[1]]).status == errSecSuccess)
    }

    @Test func `a list of items narrows a search down to them`() throws {
        let service = freshService()
        let first = try persistentReference(password(service, account: "a"))
        let second = try persistentReference(password(service, account: "b").with(["sync": 1]))
        #expect(add(password(service, account: "c")) == errSecSuccess)
        let dangling = Data("genp".utf8) + Data(repeating: 0, count: 16)
        let certificate = Data("cert".utf8) + Data(repeating: 0, count: 16)
        let listed = query(service).with([
            kSecMatchItemList as String: [first, dangling, second, certificate],
            "m_Limit": "m_LimitAll", "r_PersistentRef": true,
        ])
        #expect(Set(copyMatching(listed).result as? [Data] ?? []) == [first, second])
        let none = query(service).with([kSecMatchItemList as String: []])
        #expect(copyMatching(none).status == errSecItemNotFound)
    }

    @Test func `a search list names the keychains`() throws {
        let service = freshService()
        #expect(add(password(service)) == errSecSuccess)
        var keychain: SecKeychain?
        #expect(SecKeychainCopyDefault(&keychain) == errSecSuccess)
        let login = try #require(keychain)
        #expect(SecKeychainOpen("/anywhere/login.keychain-db", &keychain) == errSecSuccess)
        #expect(keychain == login)
        let listed = query(service).with([kSecMatchSearchList as String: [login]])
        #expect(copyMatching(listed).status == errSecSuccess)
        #expect(SecKeychainOpen("none.keychain", &keychain) == errSecSuccess)
        let other = query(service).with([kSecMatchSearchList as String: [keychain]])
        #expect(copyMatching(other).status == errSecNoSuchKeychain)
        #expect(copyMatching(other.with(["m_SearchList": []])).status == errSecItemNotFound)
        #expect(SecKeychainOpen("..", &keychain) == errSecParam)
    }
}
