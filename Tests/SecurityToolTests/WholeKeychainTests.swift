// SPDX-License-Identifier: Apache-2.0
import KeychainMessages
import KeychainModel
import Testing

@testable import SecurityTool

@Suite struct WholeKeychains {
    private static func item(_ itemClass: ItemClass, in keychain: String?) -> Item {
        Item(
            reference: ItemReference(itemClass: itemClass, number: 7), attributes: [:],
            accessControl: .plain(.whenUnlocked), keychain: keychain)
    }

    @Test func `all items of one keychain come before the next one's`() throws {
        let keychain = AskedKeychain { verb in
            if verb is Preferences {
                return KeychainPreferences(
                    defaultKeychain: .login, searchList: [KeychainName("work")!, .login])
            }
            guard let query = (verb as? CopyMatching)?.query,
                [.genericPassword, .internetPassword].contains(query.itemClass)
            else { return nil }
            let keychains: [String?] = [nil, "work"]
            return keychains.map { Self.item(query.itemClass, in: $0) } as [Item]
        }
        let found = try keychain.session.allItems(of: nil)
        #expect(found.map(\.keychain) == ["work", "work", "login", "login"])
        #expect(
            found.map(\.item.reference.itemClass) == [
                .genericPassword, .internetPassword, .genericPassword, .internetPassword,
            ])
    }
}
