// SPDX-License-Identifier: Apache-2.0
internal import KeychainEndpoints
internal import KeychainMessages
internal import KeychainModel
internal import LocalAuthentication
internal import KeychainSecrets

/// The calls to the inner layer. They block until the answer, and until the answer to a question
/// that one may need.
extension Keychain {
    /// The number of times that `upsert` may meet another program that adds and deletes the same
    /// item.
    private static let mostCollisions = 10

    func add(_ secret: Secret, for account: String) throws(KeychainError) {
        var item = NewItem(.genericPassword)
        item.attributes = names(account)
        item.accessGroup = accessGroup
        item.accessible = protection.accessibility.stored
        item.accessControl = try protection.accessControl()
        item.reason = prompt
        _ = try send(Add(item, secret: secret.held, returning: []))
    }

    /// nil for an item without a secret.
    func copyMatching(_ account: String) throws(KeychainError) -> Secret? {
        var query = query(account)
        query.returnFields = .data
        return try send(CopyMatching(query)).first?.secret.map(Secret.init)
    }

    func change(_ secret: Secret, for account: String) throws(KeychainError) {
        _ = try send(Update(query(account), ItemChange(), secret: secret.held))
    }

    /// Adds the item, or gives the present one this secret and this keychain's protection.
    func upsert(_ secret: Secret, for account: String) throws(KeychainError) {
        var change = ItemChange()
        change.accessControl =
            try protection.accessControl() ?? .plain(protection.accessibility.stored)
        for _ in 0..<Self.mostCollisions {
            do { return try add(secret, for: account) } catch {
                guard error.status == errSecDuplicateItem else { throw error }
            }
            do {
                _ = try send(Update(query(account), change, secret: secret.held))
                return
            } catch {
                guard error.status == errSecItemNotFound else { throw error }
            }
        }
        throw KeychainError(status: errSecDuplicateItem)
    }

    /// Returns the number of deleted items; `nil` means every account.
    func delete(_ account: String?) throws(KeychainError) -> Int {
        try send(Delete(query(account)))
    }

    /// Never asks the user: an item that needs a question exists.
    func has(_ account: String) throws(KeychainError) -> Bool {
        var query = query(account)
        query.authenticationUI = .fail
        do throws(RequestError) {
            _ = try ask(CopyMatching(query))
            return true
        } catch {
            // A context that has ended fails like a proof that can't be given.
            guard !hasEnded else { throw KeychainError(error) }
            return try Self.exists(after: error)
        }
    }

    /// Whether the refusal shows that the item exists, to a program that may not ask, or whose user
    /// can't give the proof.
    static func exists(after refusal: RequestError) throws(KeychainError) -> Bool {
        switch refusal {
        case .state(.notFound): false
        case .refused(.interactionNotAllowed), .refused(.authenticationFailed): true
        default: throw KeychainError(refusal)
        }
    }

    func items() throws(KeychainError) -> [Item] {
        var query = query(nil)
        query.limit = nil
        query.returnFields = .attributes
        var items: [Item] = []
        for found in try send(CopyMatching(query)) {
            guard let item = Item(found) else { throw KeychainError(.failed(.internalError)) }
            items.append(item)
        }
        return items
    }

    private func query(_ account: String?) -> ItemQuery {
        var query = ItemQuery(.genericPassword)
        query.attributes = names(account)
        query.accessGroup = accessGroup
        query.reason = prompt
        return query
    }

    private func names(_ account: String?) -> Attributes {
        var names: Attributes = [.service: .string(service)]
        names[.account] = account.map(AttributeValue.string)
        return names
    }

    private func send<V: Verb>(_ verb: V) throws(KeychainError) -> V.Answer {
        do throws(RequestError) { return try ask(verb) } catch { throw KeychainError(error) }
    }

    private func ask<V: Verb>(_ verb: V) throws(RequestError) -> V.Answer {
        let call = try context.map { context throws(RequestError) in try CallContext(context) }
        return try KeychainEndpointChoice.current().send(verb, in: call)
    }

    /// In a context that has ended no proof can be given or used.
    private var hasEnded: Bool { context != nil && context?.authentication == nil }
}
