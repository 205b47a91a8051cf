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
        if let group = change.accessGroup { _ = try ownGroups(group, of: caller) }
        guard secret?.bytes.count ?? 0 <= Request.largestSecret else { throw .dataTooLarge }
        var trust: ((TrustList?) -> TrustList?)?
        if let change = change.trust { trust = try trustUpdate(change, by: caller) }
        var unlock = UnlockWatch(keychain, vault)
        var keys = try vault.keys(of: keychain)
        let groups = try groups(query, .update, keychain, keys, for: asker)
        let given = authentication.evidence(for: asker)
        var judging = try judging(
            .decrypt, as: .update, keychain, keys, groups: groups.own,
            ui: query.authenticationUI, given: given, for: asker)
        // Whom an item lets in its user says now, whatever he has proven before.
        var needs = Needs(given: change.trust == nil ? given : Evidence())
        let result = try resultJudging(change, needs.evidence, keychain, keys, groups, for: asker)
        // They may be very many: each is looked at, and none is kept.
        var meant = MeantItems(memory, for: caller.user)
        var search = query
        search.limit = nil
        var looking = unlock
        try keychain.each(search, in: .groups(groups.all), keys) { item throws(Refusal) in
            guard groups.others.isEmpty || judging.isKnown(item) else { return true }
            try looking.checkNowAndThen(item.availability)
            try needs.add(item, judging)
            if let result { try judgeResult(&needs, item, change, result) }
            if change.trust != nil { try requirePresence(&needs, item, judging) }
            try meant.append(item)
            return true
        }
        guard !meant.items.isEmpty else { throw .notFound }
        try countLimits(&needs, needs.first, judging)
        let proven = try evidence(
            for: needs, .change, reason: query.reason,
            remarks: [change.trust?.remark].compactMap { $0 }, for: asker)
        if proven != nil {
            unlock = UnlockWatch(keychain, vault)
            keys = try vault.keys(of: keychain)
            judging = try self.judging(
                .decrypt, as: .update, keychain, keys, groups: groups.own,
                ui: query.authenticationUI, given: proven, for: asker)
        }
        let evidence = proven ?? needs.evidence
        var change = change
        change.accessControl = change.accessControl.map { bound($0, to: judging) }
        if needs.usesApplicationPassword || change.accessControl?.needsApplicationPassword == true {
            keys.applicationKey = try applicationKey(
                keychain, question(needs, .change, query.reason, asker),
                isNew: !needs.usesApplicationPassword, query.authenticationUI, for: asker)
        }
        guard asker.isUnchanged() else { throw .notEntitled }
        var answer = Answer()
        var ended: Refusal?
        do {
            answer.count = try keychain.file.update(
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
        } catch {
            throw ended ?? Refusal(error)
        }
        if let change = change.trust {
            asker.notes.note(trust: change.word)
            // What was allowed for a session may be what is taken back.
            authentication.trust.forget(meant.references, of: caller.user)
        }
        audit?.record(.update, asker, proven ?? Evidence(), nil)
        return answer
    }

    /// How a change is judged by what it makes of items.
    private struct ResultJudging {
        let newRights: ItemAccessControl?
        let writing: Judging
        let changingRights: Judging
        let changingTrust: Judging
    }

    /// nil where a change leaves rights and lists as they are, and no policy looks at the rest.
    private func resultJudging(
        _ change: ItemChange, _ given: Evidence, _ keychain: OpenKeychain,
        _ keys: borrowing ClassKeys, _ groups: GroupScope, for asker: any Asker
    ) throws(Refusal) -> ResultJudging? {
        let newRights = change.accessControl ?? change.accessible.map(ItemAccessControl.plain)
        guard newRights != nil || change.trust != nil || !policy.now.judge.policy.isEmpty else {
            return nil
        }
        let own = groups.own + [change.accessGroup].compactMap { $0 }
        let writing = try judging(
            .encrypt, as: .update, keychain, keys, groups: own, ui: .fail, given: given,
            for: asker)
        let changingRights = try judging(
            .decrypt, as: .changeACL, keychain, keys, groups: groups.own, ui: .allow,
            given: given, for: asker)
        var changingTrust = changingRights
        changingTrust.admission = { _ in .mayChange }
        return ResultJudging(
            newRights: newRights.map { bound($0, to: writing) }, writing: writing,
            changingRights: changingRights, changingTrust: changingTrust)
    }

    /// What the item would be is judged as well. New rights are judged like those of a new item,
    /// so that nobody locks himself out, and are an operation of their own to policies.
    private func judgeResult(
        _ needs: inout Needs, _ item: SealedItem, _ change: ItemChange, _ judging: ResultJudging
    ) throws(Refusal) {
        let writing = judging.writing
        let rights = judging.newRights ?? item.accessControl
        let group = change.accessGroup ?? item.accessGroup
        let result = writing.item(item, group, rights, changed: change.attributes)
        switch writing.judge(result, needs.evidence) {
        case .allow: break
        case .deny(.interactionNotAllowed): break
        case .deny(let denial): throw writing.refusal(denial)
        case .allowAfter(let requirement): needs.require(requirement, for: item)
        }
        if change.trust != nil { try needs.add(item, judging.changingTrust) }
        // Programs say the rights with each update, mostly those that the item has.
        guard judging.newRights != nil, rights != item.accessControl,
            !policy.now.judge.policy.isEmpty
        else { return }
        try needs.add(item, judging.changingRights)
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
