// SPDX-License-Identifier: Apache-2.0
internal import AccessControl
internal import KeychainMessages
internal import KeychainModel
internal import KeychainStore
internal import Secrets

extension KeychainService {
    /// Items that one call may change.
    private static let mostItems = 100_000

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
        var keys = try vault.keys(of: keychain)
        let groups = try groups(query, .update, keychain, keys, for: asker)
        var search = query
        search.limit = Self.mostItems
        var found: [SealedItem]
        do { found = try keychain.file.find(search, groups: groups.all, keys: keys) } catch {
            throw Refusal(error)
        }
        let given = authentication.evidence(for: asker)
        var judging = try judging(
            .decrypt, as: .update, keychain, keys, groups: groups.own,
            ui: query.authenticationUI, given: given, for: asker)
        if !groups.others.isEmpty { found.removeAll { !judging.isKnown($0) } }
        guard !found.isEmpty else { throw .notFound }
        // Whom an item lets in its user says now, whatever he has proven before.
        var needs = try Needs(
            found, judging, given: change.trust == nil ? given : Evidence())
        try judgeResult(&needs, found, change, keychain, keys, groups, for: asker)
        if change.trust != nil { try requirePresence(&needs, found, judging) }
        try countLimits(&needs, found.first, judging)
        let proven = try evidence(
            for: needs, .change, reason: query.reason,
            remarks: [change.trust?.remark].compactMap { $0 }, for: asker)
        if proven != nil {
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
                isNew: !needs.usesApplicationPassword, to: needs.passwordItems,
                query.authenticationUI, for: asker)
        }
        guard asker.isUnchanged() else { throw .notEntitled }
        var answer = Answer()
        // A new secret takes the old one's place unopened.
        answer.count = try guessing(
            found, in: keychain, shows: secret == nil ? .right : .undecided
        ) { () throws(KeychainStoreError) in
            try keychain.file.update(found, change, secret, keys: keys, trust: trust) { item in
                guard case .allow(let grant) = judging.judge(item, evidence) else { return nil }
                asker.notes.note(grant)
                return grant
            }
        }
        if let change = change.trust {
            asker.notes.note(trust: change.word)
            // What was allowed for a session may be what is taken back.
            authentication.trust.forget(found.map(\.reference), of: caller.user)
        }
        audit?.record(.update, asker, proven ?? Evidence(), nil)
        return answer
    }

    /// What the items would be is judged as well. New rights are judged like those of a new item,
    /// so that nobody locks himself out, and are an operation of their own to policies.
    private func judgeResult(
        _ needs: inout Needs, _ found: [SealedItem], _ change: ItemChange,
        _ keychain: OpenKeychain, _ keys: borrowing ClassKeys, _ groups: GroupScope,
        for asker: any Asker
    ) throws(Refusal) {
        let newRights = change.accessControl ?? change.accessible.map(ItemAccessControl.plain)
        guard newRights != nil || change.trust != nil || !policy.now.judge.policy.isEmpty else {
            return
        }
        let own = groups.own + [change.accessGroup].compactMap { $0 }
        let writing = try judging(
            .encrypt, as: .update, keychain, keys, groups: own, ui: .fail,
            given: needs.evidence, for: asker)
        let changingRights = try judging(
            .decrypt, as: .changeACL, keychain, keys, groups: groups.own, ui: .allow,
            given: needs.evidence, for: asker)
        var changingTrust = changingRights
        changingTrust.admission = { _ in .mayChange }
        for item in found {
            let rights = newRights.map { bound($0, to: writing) } ?? item.accessControl
            let group = change.accessGroup ?? item.accessGroup
            let result = writing.item(item, group, rights, changed: change.attributes)
            switch writing.judge(result, needs.evidence) {
            case .allow: break
            case .deny(.interactionNotAllowed): break
            case .deny(let denial): throw writing.refusal(denial)
            case .allowAfter(let requirement): needs.require(requirement, for: item)
            }
            if change.trust != nil { try needs.add(item, changingTrust) }
            // Programs say the rights with each update, mostly those that the item has.
            guard newRights != nil, rights != item.accessControl,
                !policy.now.judge.policy.isEmpty
            else { continue }
            try needs.add(item, changingRights)
        }
    }

    /// Whom items let in beside their groups is for their user to say. Where nobody can prove that it
    /// is he, items' own programs say it.
    private func requirePresence(
        _ needs: inout Needs, _ found: [SealedItem], _ judging: Judging
    ) throws(Refusal) {
        guard judging.circumstances.keychain.isPasscodeSet == true else {
            guard found.allSatisfy(judging.isOwn) else { throw .passcodeNotSet }
            return
        }
        guard judging.circumstances.mayAsk else { throw .interactionNotAllowed }
        for item in found { needs.require(Requirement(.factor(.presence)), for: item) }
    }
}
