// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets

/// The items of the helpers' passwords. They are in the helper's own access group and have an empty
/// list of programs, so that the user is asked once about another program that wants one.
final class CredentialItems {
    private let open: HelperSession.Endpoint
    private var opened: (any KeychainEndpoint)?

    init(asking open: @escaping HelperSession.Endpoint) { self.open = open }

    private func endpoint() throws(RequestError) -> any KeychainEndpoint {
        if let opened { return opened }
        let endpoint = try open().get()
        opened = endpoint
        return endpoint
    }

    /// The first item with the attributes, with its secret; nil where there is none.
    func first(_ itemClass: ItemClass, _ attributes: Attributes) throws(HelperFailure) -> Item? {
        try found(itemClass, attributes, limit: 1, returning: [.attributes, .data]).first
    }

    /// All items with the attributes, without their secrets.
    func listed(_ itemClass: ItemClass, _ attributes: Attributes) throws(HelperFailure) -> [Item] {
        try found(itemClass, attributes, limit: nil, returning: .attributes)
    }

    /// All items with the attributes that can be read without a question, with their secrets: for
    /// changes to the helper's own items. The user is not asked about those of other programs.
    func unasked(_ itemClass: ItemClass, _ attributes: Attributes) throws(HelperFailure) -> [Item] {
        try found(
            itemClass, attributes, limit: nil, returning: [.attributes, .data], ui: .skip)
    }

    private func found(
        _ itemClass: ItemClass, _ attributes: Attributes, limit: Int?,
        returning parts: ReturnFields, ui: ItemQuery.AuthenticationUI = .allow
    ) throws(HelperFailure) -> [Item] {
        var query = ItemQuery(itemClass)
        query.attributes = attributes
        query.synchronizable = .any
        query.limit = limit
        query.returnFields = parts
        query.authenticationUI = ui
        do throws(RequestError) { return try endpoint().send(CopyMatching(query)) } catch {
            guard error == .state(.notFound) else { throw .keychain(error) }
            return []
        }
    }

    /// Adds the password, or gives the existing item with the same distinguishing attributes its
    /// new secret and the other attributes.
    func put(
        _ itemClass: ItemClass, _ attributes: Attributes, secret: HeldSecret
    ) throws(HelperFailure) {
        var item = NewItem(itemClass)
        item.attributes = attributes
        item.trusted = []
        do throws(RequestError) {
            do throws(RequestError) {
                _ = try endpoint().send(Add(item, secret: secret, returning: []))
            } catch {
                guard error == .state(.duplicate) else { throw error }
                let key = Set(itemClass.keyAttributes.map(\.name))
                var query = ItemQuery(itemClass)
                query.attributes = attributes.filter { key.contains($0.key) }
                var change = ItemChange()
                change.attributes = attributes.filter { !key.contains($0.key) }
                _ = try endpoint().send(Update(query, change, secret: secret))
            }
        } catch { throw .keychain(error) }
    }

    /// Deletes all items with the attributes. Throws `.notFound` where there is none.
    func delete(_ itemClass: ItemClass, _ attributes: Attributes) throws(HelperFailure) {
        var query = ItemQuery(itemClass)
        query.attributes = attributes
        query.synchronizable = .any
        query.limit = nil
        try delete(query)
    }

    func delete(_ item: Item) throws(HelperFailure) {
        var query = ItemQuery(item.reference.itemClass)
        query.keychain = item.keychain
        query.synchronizable = .any
        query.references = [item.reference]
        try delete(query)
    }

    private func delete(_ query: ItemQuery) throws(HelperFailure) {
        do throws(RequestError) { _ = try endpoint().send(Delete(query)) } catch {
            throw error == .state(.notFound) ? .notFound : .keychain(error)
        }
    }
}

extension Item {
    /// An attribute as text; nil where it is missing, or no text.
    func text(_ name: AttributeName) -> String? {
        switch attributes[name] {
        case .string(let text): text
        case .data(let bytes): String(validating: bytes, as: UTF8.self)
        default: nil
        }
    }

    func number(_ name: AttributeName) -> Int64? {
        guard case .number(let number) = attributes[name] else { return nil }
        return number
    }
}
