// SPDX-License-Identifier: Apache-2.0
internal import KeychainAccessControl
internal import KeychainItemStore
internal import KeychainMessages
internal import KeychainModel
internal import KeychainRequestAudit
internal import KeychainUserPresence
internal import KeychainVaults

extension KeychainService {
    /// Deletes all matching items of a keychain or none, in one keychain after the other.
    func delete(_ query: ItemQuery, for client: any Client) throws(RequestError) -> Int {
        var count = 0
        let keychains = try keychains(query, toChange: true, for: client)
        let prompts = prompts(client)
        try changing(query, for: client) { () throws(RequestError) in
            try withAccess(to: keychains, .delete(query), prompts) { access throws(RequestError) in
                let groups = try access.groups(query)
                access.begin(
                    ItemScope(groups: groups.own), given: authentication.evidence(for: client))
                var meant = query
                if !groups.others.isEmpty {
                    meant.references = try access.meant(by: query, in: groups).references
                }
                count += try access.delete(meant, in: groups)
                return false
            }
        }
        return count
    }
}

extension Authorization {
    /// Deletes items that need no proof, and otherwise asks. The user's answer counts for the items
    /// that the question is about, and for none added later.
    fileprivate func delete(_ query: ItemQuery, in groups: GroupScope) throws(RequestError) -> Int {
        do throws(RequestError) { return try remove(query, groups) } catch {
            guard lacksProof else { throw error }
        }
        var query = query
        query.references = try meant(by: query, in: groups) { item throws(RequestError) in
            try consider(item)
        }.references
        try settle()
        return try remove(query, groups)
    }

    /// Items that can't be read for want of a class key may be deleted, unless a rule could ask for
    /// something.
    private func remove(_ query: ItemQuery, _ groups: GroupScope) throws(RequestError) -> Int {
        let keys = try keys
        let context = try context
        let mayDeleteUnread = context.judge.mayDeleteUnread(context.circumstances)
        return try change { grant throws(RequestError) in
            do throws(KeychainStoreError) {
                return try keychain.file.delete(
                    query, groups: groups.all, keys: keys.classKeys,
                    mayDeleteUnread: mayDeleteUnread, grant: grant)
            } catch { throw RequestError(error) }
        }
    }
}
