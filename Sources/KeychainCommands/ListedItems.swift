// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainModel

/// Items without their secrets, as `list`, `search` and `tree` show them. No item is an empty list,
/// and no error.
struct ListedItems {
    private let wanted: ItemSelection
    /// What the user proves for one class of items serves the others.
    private let asked: Keychain

    init(_ wanted: ItemSelection) {
        self.wanted = wanted
        asked = Keychain(
            name: wanted.wanted.keychain, asJSON: wanted.asJSON, context: AuthenticationContext())
    }

    func matching(to task: String) throws -> [Item] {
        if let named = wanted.named { return try named.all(from: asked, to: task) }
        guard let kind = wanted.kind else { return try ofAllClasses(to: task) }
        return try all(try wanted.query(kind), to: task)
    }

    /// Of each class that can have the attributes that were said.
    private func ofAllClasses(to task: String) throws -> [Item] {
        var items: [Item] = []
        for kind in ItemKind.allCases {
            guard let query = try? wanted.query(kind) else { continue }
            items += try all(query, to: task)
        }
        return items
    }

    private func all(_ query: ItemQuery, to task: String) throws(CommandFailure) -> [Item] {
        var query = query
        query.limit = nil
        query.returnFields = .attributes
        if !wanted.wanted.mayAsk { query.authenticationUI = .skip }
        return try asked.items(query, to: task)
    }
}
