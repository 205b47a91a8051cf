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
        let groups = try groups(query.accessGroup, of: asker.caller)
        let keychain = try keychain(query.keychain, for: asker.caller)
        var keys = try vault.keys(of: keychain)
        var reading = Reading(query, groups: groups)
        try findFew(&reading, keychain, keys)
        var judging = try judging(
            .decrypt, keychain, keys, groups: groups, ui: query.authenticationUI,
            few: reading.found, for: asker)
        let needs = try needs(
            reading, keychain, keys, judging, given: authentication.evidence(for: asker))
        let evidence = try evidence(for: needs, .read, reason: query.reason, for: asker)
        if evidence != nil {
            keys = try vault.keys(of: keychain)
            judging = try self.judging(
                .decrypt, keychain, keys, groups: groups, ui: query.authenticationUI,
                few: reading.found, for: asker)
        }
        if needs.usesApplicationPassword, query.parts.contains(.data) {
            keys.applicationKey = try applicationKey(
                keychain, question(needs, .read, query.reason, asker), isNew: false,
                query.authenticationUI, for: asker)
        }
        let mayOpen = keys.applicationKey != nil || !query.parts.contains(.data)
        var delivery = Delivery(evidence ?? Evidence(), asker, memory, audit)
        try each(reading, keychain, keys) { item throws(Refusal) in
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
            let opened = try open(item, keychain, keys, grant, query)
            try delivery.add(opened, emit)
            return delivery.count != query.limit
        }
        return try delivery.finish(emit)
    }

    /// A query, and the items it found where those are few enough to be kept.
    private struct Reading {
        var query: ItemQuery
        let groups: [String]
        var found: [SealedItem]?

        init(_ query: ItemQuery, groups: [String]) {
            self.query = query
            self.groups = groups
        }
    }

    private func findFew(
        _ reading: inout Reading, _ keychain: OpenKeychain, _ keys: borrowing ClassKeys
    ) throws(Refusal) {
        guard let limit = reading.query.limit, limit <= Delivery.mostItems,
            reading.query.authenticationUI != .skip
        else { return }
        do {
            reading.found = try keychain.file.find(
                reading.query, groups: reading.groups, keys: keys)
        } catch { throw Refusal(error) }
    }

    /// Looks at everything that will be read, so that the user is asked once and for all of it.
    private func needs(
        _ reading: Reading, _ keychain: OpenKeychain, _ keys: borrowing ClassKeys,
        _ judging: Judging, given evidence: Evidence
    ) throws(Refusal) -> Needs {
        if let found = reading.found { return try Needs(found, judging, given: evidence) }
        var needs = Needs(given: evidence)
        if reading.query.authenticationUI == .skip { return needs }
        try each(reading, keychain, keys) { item throws(Refusal) in
            try needs.add(item, judging)
            return true
        }
        return needs
    }

    /// Hands out the items found until `body` has enough of them.
    private func each(
        _ reading: Reading, _ keychain: OpenKeychain, _ keys: borrowing ClassKeys,
        _ body: (SealedItem) throws(Refusal) -> Bool
    ) throws(Refusal) {
        if let found = reading.found {
            for item in found where try !body(item) { return }
            return
        }
        var query = reading.query
        // Items that are left out must not use the limit up.
        if query.authenticationUI == .skip { query.limit = nil }
        var refusal: Refusal?
        do {
            try keychain.file.forEach(query, groups: reading.groups, keys: keys) { item in
                do throws(Refusal) { return try body(item) } catch {
                    refusal = error
                    return false
                }
            }
        } catch { throw Refusal(error) }
        if let refusal { throw refusal }
    }

    /// nil for an item that is left out.
    private func grant(
        _ item: SealedItem, _ judging: Judging, _ evidence: Evidence, _ query: ItemQuery
    ) throws(Refusal) -> Grant? {
        switch judging.judge(item, evidence) {
        case .deny(.interactionNotAllowed) where query.authenticationUI == .skip: return nil
        case .deny(let denial): throw Refusal(denial)
        case .allowAfter: throw .authenticationFailed
        case .allow(let grant): return grant
        }
    }

    /// The item with what the query wants of it.
    private func open(
        _ item: SealedItem, _ keychain: OpenKeychain, _ keys: borrowing ClassKeys,
        _ grant: consuming Grant, _ query: ItemQuery
    ) throws(Refusal) -> AnsweredItem {
        let answered = item.answered(query.parts)
        guard query.parts.contains(.data) else { return AnsweredItem(item: answered, secret: nil) }
        do {
            let secret = try keychain.file.open(item, grant, keys: keys)
            return AnsweredItem(item: answered, secret: secret)
        } catch { throw Refusal(error) }
    }

    private func sealedSize(
        _ item: SealedItem, _ keychain: OpenKeychain
    ) throws(Refusal) -> Int {
        do { return try keychain.file.sealedSize(item) } catch { throw Refusal(error) }
    }
}

extension SealedItem {
    /// What an answer carries of it: no attributes where the secret or the name alone was asked for.
    fileprivate func answered(_ parts: ItemQuery.Parts) -> FoundItem {
        guard parts.isEmpty || parts == .data || parts == .persistentReference else {
            return found
        }
        return FoundItem(
            reference: reference, attributes: [:],
            accessControl: .plain(accessControl.protection))
    }
}
