// SPDX-License-Identifier: Apache-2.0
internal import AccessControl
internal import KeychainMessages
internal import KeychainModel
internal import KeychainStore
internal import Secrets

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
        // Nobody is asked for another program's item before all keychains were looked into.
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
        let operation: PolicyOperation =
            query.parts.contains(.data) ? .readSecret : .readAttributes
        let unlock = UnlockWatch(keychain, vault)
        var keys = try vault.keys(of: keychain)
        let groups = try groups(query, operation, keychain, keys, for: asker)
        var reading = Reading(
            query, groups: groups, asker.caller, unlock,
            allowed: authentication.trust.items(for: asker.caller))
        try findFew(&reading, keychain, keys)
        let letIn =
            lettingIn ? try letIn(&reading, operation, keychain, keys, for: asker) : nil
        if letIn != nil {
            reading.unlock = UnlockWatch(keychain, vault)
            keys = try vault.keys(of: keychain)
        }
        var (judging, needs) = try judged(
            &reading, keychain, keys, operation, proven: letIn?.evidence, for: asker)
        try countLimits(&needs, needs.first, judging)
        try refuseToAsk(needs, query, for: asker)
        let evidence = try evidence(
            for: needs, operation == .readAttributes ? .list : .read, reason: query.reason,
            for: asker)
        if evidence != nil {
            reading.unlock = UnlockWatch(keychain, vault)
            keys = try vault.keys(of: keychain)
            judging = try self.judging(
                .decrypt, as: operation, keychain, keys, groups: groups.own,
                ui: query.authenticationUI, few: reading.found, given: evidence, for: asker)
            reading.judge(by: &judging)
        }
        let isListed = letIn?.choice == .always
        if needs.usesApplicationPassword, query.parts.contains(.data) || isListed {
            keys.applicationKey = try applicationKey(
                keychain, question(needs, .read, query.reason, asker), isNew: false,
                to: needs.passwordItems, query.authenticationUI, for: asker)
        }
        let mayOpen = keys.applicationKey != nil || !query.parts.contains(.data)
        if isListed {
            try list(asker.caller, reading, judging, evidence ?? needs.evidence, keychain, keys)
        }
        var delivery = Delivery(
            evidence ?? letIn?.evidence ?? Evidence(), asker, reading.unlock, memory, audit)
        try each(reading, keychain, keys) { item throws(Refusal) in
            try delivery.begin(item)
            let proof = needs.items.contains(item.reference) ? evidence : nil
            if item.accessControl.needsApplicationPassword, !mayOpen,
                query.authenticationUI == .skip
            {
                return true
            }
            guard let grant = try grant(item, judging, proof ?? needs.evidence, query) else {
                return true
            }
            try delivery.makeRoom(
                for: query.parts.contains(.data) ? sealedSize(item, keychain) : 0, emit)
            asker.notes.note(grant)
            if reading.trusts(item), letIn == nil { asker.notes.note(trust: "listed") }
            guard
                let opened = try open(
                    item, keychain, keys, grant, query, isStrange: reading.trusts(item))
            else { return true }
            try delivery.add(opened.answered, of: opened.item, emit)
            return delivery.count != query.limit
        }
        return try delivery.finish(emit)
    }

    /// What must be proven before the items may be read. Most items need no proof: so those that
    /// are found are looked at first without what only proofs rest on.
    private func judged(
        _ reading: inout Reading, _ keychain: OpenKeychain, _ keys: borrowing ClassKeys,
        _ operation: PolicyOperation, proven: Evidence?, for asker: any Asker
    ) throws(Refusal) -> (Judging, Needs) {
        if let found = reading.found, proven == nil,
            !found.contains(where: { $0.asksForProof(for: .decrypt) }),
            !policy.now.judge.policy.asked.contains(AgeField.presence)
        {
            var judging = try judging(
                .decrypt, as: operation, keychain, keys, groups: reading.groups.own,
                ui: reading.query.authenticationUI, few: found, given: nil, for: asker)
            reading.judge(by: &judging)
            if judging.allows(found) { return (judging, Needs(plain: found)) }
        }
        let evidence = authentication.evidence(for: asker).adding(proven ?? Evidence())
        var judging = try judging(
            .decrypt, as: operation, keychain, keys, groups: reading.groups.own,
            ui: reading.query.authenticationUI, few: reading.found, given: evidence, for: asker)
        reading.judge(by: &judging)
        return (judging, try needs(reading, keychain, keys, judging, given: evidence, for: asker))
    }

    private func findFew(
        _ reading: inout Reading, _ keychain: OpenKeychain, _ keys: borrowing ClassKeys
    ) throws(Refusal) {
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
                let few = try keychain.file.find(query, in: scope, keys: keys, mostBytes: bytesLeft)
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
        _ needs: Needs, _ query: ItemQuery, for asker: any Asker
    ) throws(Refusal) {
        guard query.wantsAllSecrets else { return }
        let hasPassword = asker.context?.applicationPassword != nil
        guard needs.items.isEmpty, !needs.usesApplicationPassword || hasPassword else {
            throw .needsProofOfEach
        }
    }

    /// Looks at everything that will be read, so that the user is asked once and for all of it.
    private func needs(
        _ reading: Reading, _ keychain: OpenKeychain, _ keys: borrowing ClassKeys,
        _ judging: Judging, given evidence: Evidence, for asker: any Asker
    ) throws(Refusal) -> Needs {
        if let found = reading.found { return try Needs(found, judging, given: evidence) }
        var needs = Needs(given: evidence)
        if reading.query.authenticationUI == .skip {
            // The program may have given the password before.
            guard asker.context?.applicationPassword != nil else { return needs }
            try each(reading, keychain, keys) { item throws(Refusal) in
                needs.noteApplicationPassword(of: item)
                return !needs.usesApplicationPassword
            }
            return needs
        }
        var count = 0
        try each(reading, keychain, keys) { item throws(Refusal) in
            try needs.add(item, judging)
            count += 1
            return count != reading.query.limit
        }
        return needs
    }

    /// Hands out the items found until `body` has enough of them.
    func each(
        _ reading: Reading, _ keychain: OpenKeychain, _ keys: borrowing ClassKeys,
        _ body: (SealedItem) throws(Refusal) -> Bool
    ) throws(Refusal) {
        if let found = reading.found {
            for item in found where try !body(item) { return }
            return
        }
        // Items that are left out must not use the limit up.
        let mayBeUnknown = !reading.groups.others.isEmpty
        var goesOn = true
        var unlock = reading.unlock
        for (query, scope) in reading.searches where goesOn {
            var query = query
            if query.authenticationUI == .skip || mayBeUnknown { query.limit = nil }
            try keychain.each(query, in: scope, keys) { item throws(Refusal) in
                if mayBeUnknown, reading.judging?.isKnown(item) == false { return true }
                try unlock.checkNowAndThen(item.availability)
                goesOn = try body(item)
                return goesOn
            }
        }
    }

    /// nil for an item that is left out.
    private func grant(
        _ item: SealedItem, _ judging: Judging, _ evidence: Evidence, _ query: ItemQuery
    ) throws(Refusal) -> Grant? {
        switch judging.judge(item, evidence) {
        case .deny(.interactionNotAllowed) where query.authenticationUI == .skip: return nil
        case .deny(let denial): throw judging.refusal(denial)
        case .allowAfter: throw .authenticationFailed
        case .allow(let grant): return grant
        }
    }

    /// The item with what the query wants of it; nil for one that is gone, or lost: none of the
    /// others is the worse for it.
    private func open(
        _ item: SealedItem, _ keychain: OpenKeychain, _ keys: borrowing ClassKeys,
        _ grant: consuming Grant, _ query: ItemQuery, isStrange: Bool
    ) throws(Refusal) -> (item: SealedItem, answered: AnsweredItem)? {
        let redacted = grant.redacted
        func answered(_ item: SealedItem, _ secret: HeldSecret?) -> AnsweredItem {
            AnsweredItem(
                item: item.answered(query.parts, without: redacted, isStrange: isStrange),
                secret: secret)
        }
        guard query.parts.contains(.data) else { return (item, answered(item, nil)) }
        do throws(Refusal) {
            let opened = try opening(item, keychain, keys, grant)
            return (opened.item, answered(opened.item, opened.secret))
        } catch
            where error == .notFound
            || (error == .wrongApplicationPassword && query.authenticationUI == .skip)
        {
            return nil
        }
    }

    private func opening(
        _ item: SealedItem, _ keychain: OpenKeychain, _ keys: borrowing ClassKeys,
        _ grant: consuming Grant
    ) throws(Refusal) -> OpenedItem {
        var grant: Grant? = consume grant
        let guessed = item.accessControl.needsApplicationPassword ? [item.reference] : []
        return try guessing(guessed, in: keychain) { () throws(KeychainStoreError) in
            guard let grant = grant.take() else { throw .notGranted }
            return try keychain.file.open(item, grant, keys: keys)
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
