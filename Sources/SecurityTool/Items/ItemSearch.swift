// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainModel

/// An item, and the name of its keychain.
struct FoundItem {
    let item: Item
    let keychain: String

    /// The query for this very item, whatever its attributes are.
    var query: ItemQuery {
        var query = ItemQuery(item.reference.itemClass)
        query.keychain = keychain
        query.synchronizable = .any
        query.references = [item.reference]
        return query
    }
}

extension Session {
    /// The items found in the keychains, in their order; without keychains the user's search list
    /// is used. Returns an empty list where nothing is found.
    func items(_ query: ItemQuery, in keychains: [String]) throws(RequestError) -> [FoundItem] {
        var found: [FoundItem] = []
        for keychain in keychains.isEmpty ? [nil] : keychains.map({ KeychainWord($0).name }) {
            var query = query
            query.keychain = keychain
            query.limit = query.limit.map { $0 - found.count }
            found += try items(query).map {
                FoundItem(
                    item: $0, keychain: keychain ?? $0.keychain ?? KeychainName.login.description)
            }
            if let limit = query.limit, found.count >= limit { break }
        }
        return found
    }

    private func items(_ query: ItemQuery) throws(RequestError) -> [Item] {
        do throws(RequestError) { return try send(CopyMatching(query)) } catch {
            guard error == .state(.notFound) else { throw error }
            return []
        }
    }

    /// Every item of the keychain; without a name, of one keychain of the search list after the
    /// other.
    func allItems(of keychain: String?) throws(RequestError) -> [FoundItem] {
        var found: [FoundItem] = []
        for itemClass in ItemClass.ofSecItem {
            var query = ItemQuery(itemClass)
            query.synchronizable = .any
            query.limit = nil
            query.returnFields = .attributes
            found += try items(query, in: keychain.map { [$0] } ?? [])
        }
        guard keychain == nil else { return found }
        let list = try preferences().searchList.map(\.description)
        func place(_ found: FoundItem) -> Int {
            list.firstIndex(of: found.keychain) ?? list.count
        }
        return found.sorted { place($0) < place($1) }
    }

    /// The first item found, with its attributes.
    func first(
        _ query: ItemQuery, in keychains: [String], _ call: String = CallName.search
    ) throws(CommandFailure) -> FoundItem {
        var query = query
        query.limit = 1
        query.returnFields = query.returnFields.union(.attributes)
        do throws(RequestError) {
            guard let found = try items(query, in: keychains).first else { throw .state(.notFound) }
            return found
        } catch { throw CommandFailure(error, call) }
    }

    func dump(_ found: FoundItem) {
        output.write(AttributeDump.text(found.item, keychain: path(of: found.keychain)))
    }
}

/// The names of historical calls that scripts look for in error messages.
enum CallName {
    static let search = "SecKeychainSearchCopyNext"
    static let content = "SecKeychainItemCopyContent"
    static let addGeneric = "SecKeychainItemCreateFromContent"
    static let addInternet = "SecKeychainAddInternetPassword"
    static let delete = "SecKeychainItemDelete"
    static let matching = "SecItemCopyMatching"
    static let unlock = "SecKeychainUnlock"
}
