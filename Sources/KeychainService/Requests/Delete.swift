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
        let unlock = UnlockWatch(keychain, vault)
        var keys = try vault.keys(of: keychain)
        let groups = try groups(query, .delete, keychain, keys, for: asker)
        let given = authentication.evidence(for: asker)
        var judging = try judging(
            .delete, as: .delete, keychain, keys, groups: groups.own, ui: query.authenticationUI,
            given: given, for: asker)
        var query = query
        if !groups.others.isEmpty {
            query.references = try known(
                query, groups, keychain, keys, judging, of: asker.caller.user
            ).references
        }
        if let answer = try delete(
            query, in: keychain, keys, unlock, groups, judging, given, for: asker)
        {
            audit?.record(.delete, asker, Evidence(), nil)
            return answer
        }
        // The answer is for the items that the question is about, and for none that comes later.
        var needs = Needs(given: given)
        query.references = try known(
            query, groups, keychain, keys, judging, of: asker.caller.user
        ) { item throws(Refusal) in try needs.add(item, judging) }.references
        try countLimits(&needs, needs.first, judging)
        let proven = try evidence(for: needs, .delete, reason: query.reason, for: asker)
        let unlockAfterQuestion = UnlockWatch(keychain, vault)
        keys = try vault.keys(of: keychain)
        judging = try self.judging(
            .delete, as: .delete, keychain, keys, groups: groups.own, ui: query.authenticationUI,
            given: proven ?? given, for: asker)
        guard
            let answer = try delete(
                query, in: keychain, keys, unlockAfterQuestion, groups, judging, proven ?? given,
                for: asker)
        else { throw .authenticationFailed }
        audit?.record(.delete, asker, proven ?? Evidence(), nil)
        return answer
    }

    /// nil where one of the items asks for a proof first: then none is deleted.
    private func delete(
        _ query: ItemQuery, in keychain: OpenKeychain, _ keys: borrowing ClassKeys,
        _ unlock: UnlockWatch, _ groups: GroupScope, _ judging: Judging, _ evidence: Evidence,
        for asker: any Asker
    ) throws(Refusal) -> Answer? {
        var unlock = unlock
        guard asker.isUnchanged() else { throw .notEntitled }
        var denied: Refusal?
        var asks = false
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
                case .allowAfter: asks = true
                }
                return nil
            }
        } catch {
            if asks { return nil }
            throw denied ?? Refusal(error)
        }
        return answer
    }

    /// Those of the items meant that the caller may know of.
    private func known(
        _ query: ItemQuery, _ groups: GroupScope, _ keychain: OpenKeychain,
        _ keys: borrowing ClassKeys, _ judging: Judging, of user: UInt32,
        each body: (SealedItem) throws(Refusal) -> Void = { _ in }
    ) throws(Refusal) -> MeantItems {
        var search = query
        search.limit = nil
        var known = MeantItems(memory, for: user)
        try keychain.each(search, in: .groups(groups.all), keys) { item throws(Refusal) in
            guard judging.isKnown(item) else { return true }
            try known.append(item)
            try body(item)
            return true
        }
        return known
    }
}
