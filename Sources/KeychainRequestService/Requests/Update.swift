// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel
internal import KeychainAccessControl
internal import KeychainItemStore
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets

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
        guard secret?.bytes.count ?? 0 <= Request.largestSecret else { throw .dataTooLarge }
        var trust: ((TrustList?) -> TrustList?)?
        if let named = change.trust { trust = try trustUpdate(named, by: asker.caller) }
        let keys = try RequestKeys(of: keychain, vault)
        try checkDestination(query, change, keychain, keys.classKeys, for: asker)
        let groups = try groups(query, .update, keychain, keys.classKeys, for: asker)
        let access = try Authorization(
            .update(query), within: groups.own, keys, for: asker, by: self,
            given: authentication.evidence(for: asker),
            // Which programs an item lets in the user says now, whatever was proven before.
            trusting: change.trust == nil ? nil : Evidence(),
            refine: judging(change, of: asker.caller))
        let meant = try consider(query, change, groups, access)
        var change = change
        change.accessControl = change.accessControl.map { bound($0, to: access.judging) }
        let usesPassword = access.needs.usesApplicationPassword
        if usesPassword || change.accessControl?.needsApplicationPassword == true {
            try access.takeApplicationKey(
                isNew: !usesPassword, to: access.needs.passwordItems)
        }
        var answer = Answer()
        answer.count = try access.change { grant throws(Refusal) in
            // A new secret takes the old one's place unopened.
            try guessing(
                access.needs.passwordItems, in: keychain,
                shows: secret == nil ? .right : .undecided
            ) { () throws(KeychainStoreError) in
                try keychain.file.update(
                    meant.items, change, secret, keys: keys.classKeys, trust: trust, grant: grant)
            }
        }
        if let change = change.trust {
            asker.notes.note(trust: change.word)
            // What was allowed for a session may be what is taken back.
            authentication.trust.forget(meant.references, of: asker.caller.user)
        }
        audit?.record(.update, asker, access.proven ?? Evidence(), nil)
        return answer
    }

    /// The items meant, after the user was asked for all that the change takes. They may be very many:
    /// each is looked at, and none is kept.
    private func consider(
        _ query: ItemQuery, _ change: ItemChange, _ groups: GroupScope, _ access: Authorization
    ) throws(Refusal) -> MeantItems {
        var meant = MeantItems(memory, for: access.client.caller.user)
        var search = query
        search.limit = nil
        var unlock = access.keys.unlock
        var isMove = false
        try access.keychain.each(search, in: .groups(groups.all), access.keys.classKeys) {
            item throws(Refusal) in
            guard groups.others.isEmpty || access.judging.isKnown(item) else { return true }
            try unlock.checkNowAndThen(item.availability)
            try access.consider(item)
            if change.trust != nil { try requirePresence(for: item, access) }
            isMove = isMove || change.moves(item)
            try meant.append(item)
            return true
        }
        guard !meant.items.isEmpty else { throw .notFound }
        try access.settle(
            remarks: [change.trust?.remark, isMove ? change.moveRemark : nil].compactMap { $0 })
        return meant
    }

    /// What an update comes to is judged with it.
    private func judging(
        _ change: ItemChange, of caller: Caller
    ) -> (inout Judging) -> Void {
        let destination = change.accessGroup.flatMap { Self.first($0, of: caller.accessGroups) }
        return { judging in
            let update = UpdateJudging(change, judging, destination: destination)
            judging.also = { update.requests($0) }
        }
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

    /// Which programs an item lets in beside its groups is for its user to say. Where no user can prove
    /// to be the keychain's, the item's own programs say it.
    private func requirePresence(
        for item: SealedItem, _ access: Authorization
    ) throws(Refusal) {
        let judging = access.judging
        guard judging.circumstances.keychain.isPasscodeSet == true else {
            guard judging.isOwn(item) else { throw .passcodeNotSet }
            return
        }
        guard judging.circumstances.mayAsk else { throw .interactionNotAllowed }
        access.require(Requirement(.factor(.presence)), for: item)
    }
}
