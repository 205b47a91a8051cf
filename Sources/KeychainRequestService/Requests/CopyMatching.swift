// SPDX-License-Identifier: Apache-2.0
internal import KeychainAccessControl
internal import KeychainItemStore
internal import KeychainMessages
internal import KeychainModel
internal import KeychainPolicyEngine
internal import KeychainPolicyModel
internal import KeychainSecrets

extension KeychainService {
    func copyMatching(
        _ query: ItemQuery, for asker: any Asker, emit: (Answer) throws(Refusal) -> Void
    ) throws(Refusal) -> Answer {
        let places = try places(query, toChange: false, for: asker.caller)
        guard query.limit != 0 else { throw .notFound }
        do throws(Refusal) {
            return try copyMatching(query, places, for: asker, emit)
        } catch {
            // The question would not have been asked: that it could not be makes no difference.
            throw error == .interactionNotAllowed && query.wantsAllSecrets
                ? .needsProofOfEach : error
        }
    }

    private func copyMatching(
        _ query: ItemQuery, _ places: [KeychainPlace], for asker: any Asker,
        _ emit: (Answer) throws(Refusal) -> Void
    ) throws(Refusal) -> Answer {
        // The user is asked for another program's item after all keychains were looked into.
        if places.count > 1, query.namesOneItem {
            do throws(Refusal) {
                return try copyMatching(query, places, lettingIn: false, asker, emit)
            } catch { guard error == .notFound else { throw error } }
        }
        return try copyMatching(query, places, lettingIn: true, asker, emit)
    }

    /// In one keychain after the other, as if they were one.
    private func copyMatching(
        _ query: ItemQuery, _ places: [KeychainPlace], lettingIn: Bool, _ asker: any Asker,
        _ emit: (Answer) throws(Refusal) -> Void
    ) throws(Refusal) -> Answer {
        var rest = query
        // What waits leaves when more comes after it.
        var last: Answer?
        try each(of: places) { keychain throws(Refusal) in
            var count = 0
            func told(_ part: Answer) -> Answer {
                count += part.items.count
                return query.keychain == nil ? part.ofItems(in: keychain) : part
            }
            func flush() throws(Refusal) {
                if let waiting = last { try emit(waiting) }
                last = nil
            }
            let found = try mending(
                keychain, query.authenticationUI, for: asker, unless: { count > 0 }
            ) { () throws(Refusal) in
                try copyMatching(rest, in: keychain, lettingIn: lettingIn, for: asker) {
                    part throws(Refusal) in
                    try flush()
                    try emit(told(part))
                }
            }
            try flush()
            last = told(found)
            rest.limit = rest.limit.map { $0 - count }
            return rest.limit == 0
        }
        return last ?? Answer()
    }

    private func copyMatching(
        _ query: ItemQuery, in keychain: OpenKeychain, lettingIn: Bool, for asker: any Asker,
        emit: (Answer) throws(Refusal) -> Void
    ) throws(Refusal) -> Answer {
        let intent = Intent.read(query)
        let keys = try RequestKeys(of: keychain, vault)
        let groups = try groups(
            query, intent.policyOperation, keychain, keys.classKeys, for: asker)
        var reading = Reading(
            query, groups: groups, asker.caller,
            allowed: authentication.trust.items(for: asker.caller))
        try findFew(&reading, keys)
        let letIn = lettingIn ? try letIn(&reading, intent, keys, for: asker) : nil
        if letIn != nil { try keys.renew() }
        let access = try authorize(reading, intent, keys, proven: letIn?.evidence, for: asker)
        try access.settle { () throws(Refusal) in try refuseToAsk(access, query) }
        let isListed = letIn?.choice == .always
        if access.needs.usesApplicationPassword, query.parts.contains(.data) || isListed {
            try access.takeApplicationKey(isNew: false, to: access.needs.passwordItems)
        }
        if isListed { try list(reading, access) }
        return try deliver(reading, access, letIn, emit)
    }

    /// Opens what was granted, and sends it on its way.
    private func deliver(
        _ reading: Reading, _ access: Authorization, _ letIn: LetIn?,
        _ emit: (Answer) throws(Refusal) -> Void
    ) throws(Refusal) -> Answer {
        let query = reading.query
        let wantsSecrets = query.parts.contains(.data)
        let mayOpen = access.keys.classKeys.applicationKey != nil || !wantsSecrets
        var delivery = Delivery(
            access.proven ?? letIn?.evidence ?? Evidence(), access.client, access.keys.unlock,
            memory, audit)
        try each(reading, access) { item throws(Refusal) in
            try delivery.begin(item)
            let isLeftOut = item.accessControl.needsApplicationPassword && !mayOpen
            if isLeftOut, query.authenticationUI == .skip { return true }
            guard let grant = try grant(item, access, query) else { return true }
            try delivery.makeRoom(
                for: wantsSecrets ? sealedSize(item, access.keychain) : 0, emit)
            let isStrange = reading.trusts(item)
            if isStrange, letIn == nil { access.client.notes.note(trust: "listed") }
            guard let opened = try open(item, access, grant, query, isStrange: isStrange)
            else { return true }
            try delivery.add(opened.answered, of: opened.item, emit)
            return delivery.count != query.limit
        }
        return try delivery.finish(emit)
    }

    /// What must be proven before the items may be read. Most items need no proof: so those that
    /// are found are looked at first without what only proofs rest on.
    private func authorize(
        _ reading: Reading, _ intent: Intent, _ keys: RequestKeys, proven: Evidence?,
        for asker: any Asker
    ) throws(Refusal) -> Authorization {
        func look(_ evidence: Evidence?) throws(Refusal) -> Authorization {
            try Authorization(
                intent, within: reading.groups.own, keys, for: asker, by: self,
                few: reading.found, given: evidence, refine: reading.refine)
        }
        if let found = reading.found, proven == nil,
            !found.contains(where: { $0.asksForProof(for: .decrypt) }),
            !policy.now.judge.policy.asked.contains(AgeField.presence)
        {
            let access = try look(nil)
            if access.judging.allows(found) {
                access.considerAllowed(found)
                return access
            }
        }
        let evidence = authentication.evidence(for: asker)
        let access = try look(evidence.adding(proven ?? Evidence()))
        try considerAll(of: reading, access)
        return access
    }

    private func findFew(_ reading: inout Reading, _ keys: RequestKeys) throws(Refusal) {
        // The program's own process holds the whole answer anyway; the daemon never does.
        let limit = reading.query.limit ?? .max
        guard limit <= Delivery.mostItems || mode == .embedded,
            reading.query.authenticationUI != .skip, reading.groups.others.isEmpty
        else { return }
        do {
            var found: [SealedItem] = []
            var bytesLeft = mode == .embedded ? Int.max : Delivery.mostBytes
            for (query, scope) in reading.searches where found.count < limit {
                var query = query
                // Safe: no more are found than the limit.
                query.limit = limit - found.count
                let few = try keys.keychain.file.find(
                    query, in: scope, keys: keys.classKeys, mostBytes: bytesLeft)
                guard let few else { return }
                found += few
                bytesLeft -= few.reduce(0) { $0 + $1.attributeBytes }
            }
            reading.found = found
        } catch { throw Refusal(error) }
    }

    /// Refuses to ask for the secrets of all passwords at once, which is more than a user can weigh.
    /// The program is to ask for references, and then for the secrets of those that it wants.
    private func refuseToAsk(
        _ access: Authorization, _ query: ItemQuery
    ) throws(Refusal) {
        guard query.wantsAllSecrets else { return }
        let needs = access.needs
        let hasPassword = access.client.context?.applicationPassword != nil
        guard needs.items.isEmpty, !needs.usesApplicationPassword || hasPassword else {
            throw .needsProofOfEach
        }
    }

    /// Looks at everything that will be read, so that the user is asked once and for all of it.
    private func considerAll(
        of reading: Reading, _ access: Authorization
    ) throws(Refusal) {
        if reading.query.authenticationUI == .skip {
            // The program may have given the password before.
            guard access.client.context?.applicationPassword != nil else { return }
            try each(reading, access) { item throws(Refusal) in
                access.considerPassword(of: item)
                return !access.needs.usesApplicationPassword
            }
            return
        }
        var count = 0
        try each(reading, access) { item throws(Refusal) in
            try access.consider(item)
            count += 1
            return count != reading.query.limit
        }
    }

    /// Hands out the items found until `body` has enough of them.
    func each(
        _ reading: Reading, _ access: Authorization,
        _ body: (SealedItem) throws(Refusal) -> Bool
    ) throws(Refusal) {
        if let found = reading.found {
            for item in found where try !body(item) { return }
            return
        }
        // Items that are left out must not use the limit up.
        let mayBeUnknown = !reading.groups.others.isEmpty
        var goesOn = true
        var unlock = access.keys.unlock
        for (query, scope) in reading.searches where goesOn {
            var query = query
            if query.authenticationUI == .skip || mayBeUnknown { query.limit = nil }
            try access.keychain.each(query, in: scope, access.keys.classKeys) {
                item throws(Refusal) in
                if mayBeUnknown, !access.judging.isKnown(item) { return true }
                try unlock.checkNowAndThen(item.availability)
                goesOn = try body(item)
                return goesOn
            }
        }
    }

    /// nil for an item that is left out.
    private func grant(
        _ item: SealedItem, _ access: Authorization, _ query: ItemQuery
    ) throws(Refusal) -> Grant? {
        do throws(Refusal) { return try access.grant(item) } catch
            where error == .interactionNotAllowed && query.authenticationUI == .skip
        {
            return nil
        }
    }

    /// The item with what the query wants of it; nil for one that is gone, or lost: none of the
    /// others is the worse for it.
    private func open(
        _ item: SealedItem, _ access: Authorization, _ grant: consuming Grant,
        _ query: ItemQuery, isStrange: Bool
    ) throws(Refusal) -> (item: SealedItem, answered: AnsweredItem)? {
        let redacted = grant.redacted
        func answered(_ item: SealedItem, _ secret: HeldSecret?) -> AnsweredItem {
            AnsweredItem(
                item: item.answered(query.parts, without: redacted, isStrange: isStrange),
                secret: secret)
        }
        guard query.parts.contains(.data) else { return (item, answered(item, nil)) }
        do throws(Refusal) {
            let opened = try opening(item, access, grant)
            return (opened.item, answered(opened.item, opened.secret))
        } catch
            where error == .notFound
            || (error == .wrongApplicationPassword && query.authenticationUI == .skip)
        {
            return nil
        }
    }

    private func opening(
        _ item: SealedItem, _ access: Authorization, _ grant: consuming Grant
    ) throws(Refusal) -> OpenedItem {
        var grant: Grant? = consume grant
        let guessed = item.accessControl.needsApplicationPassword ? [item.reference] : []
        return try guessing(guessed, in: access.keychain) { () throws(KeychainStoreError) in
            guard let grant = grant.take() else { throw .notGranted }
            return try access.keychain.file.open(item, grant, keys: access.keys.classKeys)
        }
    }

    private func sealedSize(
        _ item: SealedItem, _ keychain: OpenKeychain
    ) throws(Refusal) -> Int {
        do { return try keychain.file.sealedSize(item) } catch { throw Refusal(error) }
    }
}

extension Answer {
    /// With the keychain's name, for who named none.
    fileprivate func ofItems(in keychain: OpenKeychain) -> Answer {
        guard let name = keychain.nameToTell else { return self }
        var told = self
        told.items = items.map { answered in
            var item = answered.item
            item.keychain = name
            return AnsweredItem(item: item, secret: answered.secret)
        }
        return told
    }
}

extension SealedItem {
    /// What an answer carries of it: no attributes where the secret or the name alone was asked for.
    fileprivate func answered(
        _ parts: ItemQuery.Parts, without redacted: [String], isStrange: Bool
    ) -> FoundItem {
        guard parts.isEmpty || parts == .data || parts == .persistentReference else {
            let hidden = redacted.map { ItemFacts.names[$0] ?? AttributeName(rawValue: $0) }
            // Who is let in need not know who else is.
            let found = isStrange ? found.withoutList : found
            return hidden.isEmpty ? found : found.without(hidden)
        }
        return FoundItem(
            reference: reference, attributes: [:],
            accessControl: .plain(accessControl.protection))
    }
}

extension ItemQuery {
    /// Whether it wants the secrets of all passwords there are.
    fileprivate var wantsAllSecrets: Bool {
        guard limit == nil, parts.contains(.data) else { return false }
        return itemClass == .genericPassword || itemClass == .internetPassword
    }
}

extension FoundItem {
    fileprivate func without(_ names: [AttributeName]) -> FoundItem {
        FoundItem(
            reference: reference, attributes: attributes.filter { !names.contains($0.key) },
            accessControl: accessControl, trusted: trusted)
    }

    fileprivate var withoutList: FoundItem {
        FoundItem(
            reference: reference, attributes: attributes, accessControl: accessControl)
    }
}
