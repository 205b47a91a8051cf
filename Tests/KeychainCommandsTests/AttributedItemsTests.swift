// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import Testing

@testable import KeychainCommands

/// Which attributed items an import takes for the same.
@Suite struct AttributedItemsTests {
    private static func item(_ user: String, _ schema: String? = nil) -> Attributes {
        var attributes: Attributes = [.pair("user"): .string(user), .label: .string("any")]
        if let schema { attributes[.schema] = .string(schema) }
        return attributes
    }

    private static let schemas: [String?] = [nil, "org.freedesktop.Secret.Generic", "a", "b"]

    @Test func `two are the same here where they are to the keychain`() {
        for one in Self.schemas {
            for other in Self.schemas {
                for user in ["me", "you"] {
                    let (first, second) = (Self.item("me", one), Self.item(user, other))
                    var items = AttributedItems()
                    let isNew = items.insert(first)
                    #expect(isNew)
                    #expect((items.find(second) != nil) == first.isSameItem(as: second))
                    let isOther = items.insert(second)
                    #expect(isOther != first.isSameItem(as: second))
                }
            }
        }
    }

    @Test func `one without a type is the same as each of several with types`() {
        var items = AttributedItems()
        let (a, b) = (Self.item("me", "a"), Self.item("me", "b"))
        let areNew = [items.insert(a), items.insert(b)]
        #expect(areNew == [true, true])
        #expect(items.find(a) != nil && items.find(b) != nil && items.find(Self.item("me")) != nil)
        let isNew = items.insert(Self.item("me"))
        #expect(!isNew)
    }
}
