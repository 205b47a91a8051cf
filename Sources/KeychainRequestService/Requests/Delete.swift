// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel
internal import KeychainAccessControl
internal import KeychainItemStore
internal import KeychainMessages
internal import KeychainModel

extension KeychainService {
    /// In each of the keychains meant.
    func delete(_ query: ItemQuery, for asker: any Asker) throws(Refusal) -> Answer {
        var answer = Answer()
        let places = try places(query, toChange: true, for: asker.caller)
        try each(of: places) { keychain throws(Refusal) in
            let changed = try mending(
                keychain, query.authenticationUI, for: asker
            ) { () throws(Refusal) in try delete(query, in: keychain, for: asker) }
            answer.count += changed.count
            return false
        }
        return answer
    }

    /// Deletes every item found, or none. What can't be read for want of a key can be deleted.
    private func delete(
        _ query: ItemQuery, in keychain: OpenKeychain, for asker: any Asker
    ) throws(Refusal) -> Answer {
        let keys = try RequestKeys(of: keychain, vault)
        let groups = try groups(query, .delete, keychain, keys.classKeys, for: asker)
        let access = try Authorization(
            .delete(query), within: groups.own, keys, for: asker, by: self,
            given: authentication.evidence(for: asker))
        var query = query
        if !groups.others.isEmpty {
            query.references = try known(query, groups, access).references
        }
        var answer = Answer()
        do throws(Refusal) { answer.count = try remove(query, groups, access) } catch {
            guard access.lacksProof else { throw error }
            // The user answers for the items that the question is about, and for none that comes later.
            query.references = try known(query, groups, access) { item throws(Refusal) in
                try access.consider(item)
            }.references
            try access.settle()
            answer.count = try remove(query, groups, access)
        }
        audit?.record(.delete, asker, access.proven ?? Evidence(), nil)
        return answer
    }

    private func remove(
        _ query: ItemQuery, _ groups: GroupScope, _ access: Authorization
    ) throws(Refusal) -> Int {
        try access.change { grant throws(Refusal) in
            do throws(KeychainStoreError) {
                return try access.keychain.file.delete(
                    query, groups: groups.all, keys: access.keys.classKeys, grant: grant)
            } catch { throw Refusal(error) }
        }
    }

    /// Those of the items meant that the client may know of.
    private func known(
        _ query: ItemQuery, _ groups: GroupScope, _ access: Authorization,
        each body: (SealedItem) throws(Refusal) -> Void = { _ in }
    ) throws(Refusal) -> MeantItems {
        var search = query
        search.limit = nil
        var known = MeantItems(memory, for: access.client.caller.user)
        try access.keychain.each(search, in: .groups(groups.all), access.keys.classKeys) {
            item throws(Refusal) in
            guard access.judging.isKnown(item) else { return true }
            try known.append(item)
            try body(item)
            return true
        }
        return known
    }
}
