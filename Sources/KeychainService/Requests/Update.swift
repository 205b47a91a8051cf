// SPDX-License-Identifier: Apache-2.0
internal import AccessControl
internal import KeychainMessages
internal import KeychainModel
internal import KeychainStore
internal import Secrets

extension KeychainService {
    /// In each of the keychains meant.
    func update(
        _ query: ItemQuery, _ change: ItemChange, _ secret: HeldSecret?, for asker: any Asker
    ) throws(Refusal) -> Answer {
        var answer = Answer()
        let places = try places(query, toChange: true, for: asker.caller)
        try each(of: places) { keychain throws(Refusal) in
            let changed = try mending(
                keychain, query.authenticationUI, for: asker
            ) { () throws(Refusal) in try update(query, change, secret, in: keychain, for: asker) }
            answer.count += changed.count
            return false
        }
        return answer
    }

    /// Changes every item found, or none. The old secrets are opened on the way, so that reading
    /// them must be allowed.
    private func update(
        _ query: ItemQuery, _ change: ItemChange, _ secret: HeldSecret?,
        in keychain: OpenKeychain, for asker: any Asker
    ) throws(Refusal) -> Answer {
        let caller = asker.caller
        guard secret?.bytes.count ?? 0 <= Request.largestSecret else { throw .dataTooLarge }
        var trust: ((TrustList?) -> TrustList?)?
        if let change = change.trust { trust = try trustUpdate(change, by: caller) }
        var unlock = UnlockWatch(keychain, vault)
        var keys = try vault.keys(of: keychain)
        try checkDestination(query, change, keychain, keys, for: asker)
        let groups = try groups(query, .update, keychain, keys, for: asker)
        let given = authentication.evidence(for: asker)
        var judging = try updating(
            change, query, keychain, keys, groups, given: given, for: asker)
        // Whom an item lets in its user says now, whatever was proven before.
        var needs = Needs(given: change.trust == nil ? given : Evidence())
        // They may be very many: each is looked at, and none is kept.
        var meant = MeantItems(memory, for: caller.user)
        var search = query
        search.limit = nil
        var looking = unlock
        var isMove = false
        try keychain.each(search, in: .groups(groups.all), keys) { item throws(Refusal) in
            guard groups.others.isEmpty || judging.isKnown(item) else { return true }
            try looking.checkNowAndThen(item.availability)
            try needs.add(item, judging)
            if change.trust != nil { try requirePresence(&needs, item, judging) }
            isMove = isMove || change.moves(item)
            try meant.append(item)
            return true
        }
        guard !meant.items.isEmpty else { throw .notFound }
        try countLimits(&needs, needs.first, judging)
        let proven = try evidence(
            for: needs, .change, reason: query.reason,
            remarks: [change.trust?.remark, isMove ? change.moveRemark : nil].compactMap { $0 },
            for: asker)
        if proven != nil {
            unlock = UnlockWatch(keychain, vault)
            keys = try vault.keys(of: keychain)
            judging = try updating(
                change, query, keychain, keys, groups, given: proven, for: asker)
        }
        let evidence = proven ?? needs.evidence
        var change = change
        change.accessControl = change.accessControl.map { bound($0, to: judging) }
        if needs.usesApplicationPassword || change.accessControl?.needsApplicationPassword == true {
            keys.applicationKey = try applicationKey(
                keychain, question(needs, .change, query.reason, asker),
                isNew: !needs.usesApplicationPassword, to: needs.passwordItems,
                query.authenticationUI, for: asker)
        }
        guard asker.isUnchanged() else { throw .notEntitled }
        var answer = Answer()
        var ended: Refusal?
        do throws(Refusal) {
            // A new secret takes the old one's place unopened.
            answer.count = try guessing(
                needs.passwordItems, in: keychain, shows: secret == nil ? .right : .undecided
            ) { () throws(KeychainStoreError) in
                try keychain.file.update(
                    meant.items, change, secret, keys: keys, trust: trust
                ) { item in
                    do throws(Refusal) { try unlock.checkNowAndThen(item.availability) } catch {
                        ended = error
                        return nil
                    }
                    guard case .allow(let grant) = judging.judge(item, evidence) else { return nil }
                    asker.notes.note(grant)
                    return grant
                }
            }
        } catch { throw ended ?? error }
        if let change = change.trust {
            asker.notes.note(trust: change.word)
            // What was allowed for a session may be what is taken back.
            authentication.trust.forget(meant.references, of: caller.user)
        }
        audit?.record(.update, asker, proven ?? Evidence(), nil)
        return answer
    }

    /// The judgement of the update and of all that it comes to.
    private func updating(
        _ change: ItemChange, _ query: ItemQuery, _ keychain: OpenKeychain,
        _ keys: borrowing ClassKeys, _ groups: GroupScope, given evidence: Evidence?,
        for asker: any Asker
    ) throws(Refusal) -> Judging {
        var judging = try judging(
            .decrypt, as: .update, keychain, keys, groups: groups.own,
            ui: query.authenticationUI, given: evidence, for: asker)
        let own = asker.caller.accessGroups
        let update = UpdateJudging(
            change, judging, destination: change.accessGroup.flatMap { Self.first($0, of: own) })
        judging.also = { update.requests($0) }
        return judging
    }

    /// The new group must be one that the caller may add items to.
    private func checkDestination(
        _ query: ItemQuery, _ change: ItemChange, _ keychain: OpenKeychain,
        _ keys: borrowing ClassKeys, for asker: any Asker
    ) throws(Refusal) {
        guard let group = change.accessGroup else { return }
        var place = ItemQuery(query.itemClass)
        place.accessGroup = group
        place.attributes = query.attributes.merging(change.attributes) { $1 }
        place.accessible = change.accessible ?? query.accessible
        _ = try groups(place, .add, keychain, keys, for: asker)
    }

    /// Whom items let in beside their groups is for their user to say. Where nobody can prove that it
    /// is he, items' own programs say it.
    private func requirePresence(
        _ needs: inout Needs, _ item: SealedItem, _ judging: Judging
    ) throws(Refusal) {
        guard judging.circumstances.keychain.isPasscodeSet == true else {
            guard judging.isOwn(item) else { throw .passcodeNotSet }
            return
        }
        guard judging.circumstances.mayAsk else { throw .interactionNotAllowed }
        needs.require(Requirement(.factor(.presence)), for: item)
    }
}
