// SPDX-License-Identifier: Apache-2.0
internal import AccessControl
internal import KeychainMessages
internal import KeychainModel
internal import KeychainStore

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
        var unlock = UnlockWatch(keychain, vault)
        let keys = try vault.keys(of: keychain)
        let groups = try groups(query, .delete, keychain, keys, for: asker)
        let evidence = authentication.evidence(for: asker)
        let judging = try judging(
            .delete, as: .delete, keychain, keys, groups: groups.own, ui: query.authenticationUI,
            given: evidence, for: asker)
        var query = query
        if !groups.others.isEmpty {
            query.references = try known(
                query, groups, keychain, keys, judging, of: asker.caller.user
            ).references
        }
        guard asker.isUnchanged() else { throw .notEntitled }
        var denied: Refusal?
        var answer = Answer()
        do {
            answer.count = try keychain.file.delete(query, groups: groups.all, keys: keys) { item in
                do throws(Refusal) { try unlock.checkNowAndThen(item.availability) } catch {
                    denied = error
                    return nil
                }
                switch judging.judge(item, evidence) {
                case .allow(let grant):
                    asker.notes.note(grant)
                    return grant
                case .deny(let denial): denied = judging.refusal(denial)
                case .allowAfter: denied = .authenticationFailed
                }
                return nil
            }
        } catch {
            throw denied ?? Refusal(error)
        }
        audit?.record(.delete, asker, Evidence(), nil)
        return answer
    }

    /// Those of the items meant that the caller may know of.
    private func known(
        _ query: ItemQuery, _ groups: GroupScope, _ keychain: OpenKeychain,
        _ keys: borrowing ClassKeys, _ judging: Judging, of user: UInt32
    ) throws(Refusal) -> MeantItems {
        var search = query
        search.limit = nil
        var known = MeantItems(memory, for: user)
        try keychain.each(search, in: .groups(groups.all), keys) { item throws(Refusal) in
            if judging.isKnown(item) { try known.append(item) }
            return true
        }
        return known
    }
}
