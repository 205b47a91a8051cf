// SPDX-License-Identifier: Apache-2.0
internal import KeychainAccessControl
internal import KeychainItemStore
internal import KeychainMessages
internal import KeychainModel
internal import KeychainPolicyModel
internal import KeychainUserPresence
internal import KeychainVaults

extension KeychainService {
    /// Reads former secrets for a user who is present: those of the items that the client may read
    /// now.
    func formerSecrets(
        _ verb: ReadFormerSecrets, for client: any Client
    ) throws(RequestError) -> [FormerSecret] {
        let name = try KeychainFolder.verified(verb.keychain)
        let id = try folder.id(name, of: client.caller.user)
        // The machine's keychain has no items of the class that has former secrets.
        guard folder.opens(id) else {
            guard verb.item == nil else { throw .state(.notFound) }
            return []
        }
        let keychain = try folder.keychain(id, for: client.caller.user)
        var query = ItemQuery(.attributed)
        query.returnFields = verb.item == nil ? .attributes : .data
        do throws(KeychainStoreError) {
            query.references =
                if let item = verb.item { [item] } else {
                    try keychain.file.itemsWithFormerSecrets(atMost: FormerSecret.mostItemsListed)
                }
        } catch { throw RequestError(error) }
        guard query.references?.isEmpty == false else { return [] }
        return try withAccess(to: keychain, .read(query), prompts(client)) {
            access throws(RequestError) in
            try access.formerSecrets(query, verb.item.map { _ in Int64(clamping: verb.generation) })
        }
    }
}

extension Authorization {
    private static let longestPresence: PolicyDuration = .minutes(5)

    fileprivate func formerSecrets(
        _ query: ItemQuery, _ generation: Int64?
    ) throws(RequestError) -> [FormerSecret] {
        let groups = try groups(query)
        let given = service.authentication.evidence(for: client)
        begin(ItemScope(groups: groups.own), given: given)
        var items: [SealedItem] = []
        _ = try meant(by: query, in: groups) { item throws(RequestError) in
            try consider(item)
            let isPresent = given.about(item.reference).proofs.contains {
                $0.provesPresence && $0.age <= Self.longestPresence
            }
            if !isPresent { try requirePresence(for: item) }
            items.append(item)
        }
        guard !items.isEmpty else { throw .state(.notFound) }
        try settle()
        let keys = try keys
        var found: [FormerSecret] = []
        for item in items {
            let grant = try grant(item)
            let hidesLabel = grant.redacted.contains("label")
            do throws(KeychainStoreError) {
                found += try keychain.file.formerSecrets(
                    of: item, generation: generation, grant, keys: keys.classKeys
                ).map { hidesLabel ? $0.withoutLabel : $0 }
            } catch { throw RequestError(error) }
        }
        try prompts.checkClient()
        for item in items { try keys.unlock.check(item.availability) }
        return found
    }
}
