// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import KeychainAccessControl
internal import KeychainItemStore
internal import KeychainMessages
internal import KeychainModel
internal import KeychainPolicyModel
internal import KeychainUserPresence
internal import KeychainVaults

/// What is written when the user chose for good: the program into the list of the item, or into those
/// that joined the group of the item. An item of no program becomes the program's own.
extension TrustedApplicationConsent {
    func list(_ search: SearchPass, _ access: Authorization) throws(RequestError) {
        let identity = access.client.caller.identity
        guard let name = identity.identifier, let strength = identity.strength else {
            throw .failed(.internalError)
        }
        let application = TrustedApplication(
            name, strength: strength, listedBy: nil,
            listedAt: Date().timeIntervalSinceReferenceDate)
        let meant = search.found ?? []
        let keys = try access.keys
        if access.consent?.choice == .everything {
            return try join(application, meant, access, keys)
        }
        if meant.count == 1, meant[0].isImported, let group = try own(meant[0], access, keys) {
            return try give(meant[0], to: group, search, access, keys)
        }
        try write(
            meant, ItemChange(), access, keys,
            trust: { TrustList(($0?.applications ?? []) + [application]) },
            grant: { Self.grant($0, access) })
    }

    private static func grant(_ item: SealedItem, _ access: Authorization) -> Grant? {
        guard case .allow(let grant) = try? access.verdict(on: item) else { return nil }
        return grant
    }

    private func write(
        _ items: [SealedItem], _ change: ItemChange, _ access: Authorization, _ keys: RequestKeys,
        trust: @escaping (TrustList?) -> TrustList?, grant: (SealedItem) -> Grant?
    ) throws(RequestError) {
        try mayList(items, access, keys)
        for item in items { try keys.unlock.check(item.availability) }
        let guessed = items.filter(\.needsApplicationPassword).map(\.reference)
        _ = try access.service.guessing(guessed, in: access.keychain) {
            () throws(KeychainStoreError) in
            try access.keychain.file.update(
                items.map(\.meant), change, nil, keys: keys.classKeys, trust: trust,
                grant: grant)
        }
    }

    /// Has the program join the group of the item that the user was asked about.
    private func join(
        _ program: TrustedApplication, _ items: [SealedItem], _ access: Authorization,
        _ keys: RequestKeys
    ) throws(RequestError) {
        guard items.count == 1, let item = items.first,
            JoinedGroups.mayJoin(access.client.caller), JoinedGroups.isOpen(item.accessGroup)
        else { throw .state(.notFound) }
        try mayList(items, access, keys)
        try keys.unlock.check(item.availability)
        try access.prompts.checkClient()
        do throws(KeychainStoreError) {
            _ = try access.keychain.file.changeJoinedGroups(keys.classKeys) { groups in
                groups.add(program, to: item.accessGroup)
                return true
            }
        } catch { throw RequestError(error) }
    }

    /// The group that the client's new items go to, if the item may be among them.
    private func own(
        _ item: SealedItem, _ access: Authorization, _ keys: RequestKeys
    ) throws(RequestError) -> String? {
        guard let group = access.client.caller.accessGroups.first else { return nil }
        let proven = access.consent?.evidence ?? Evidence()
        let adding = try context(access.intent, admitting: .none, access, keys, given: proven)
        let request = AccessRequest(
            adding.circumstances.of(.encrypt, as: .add),
            on: adding.item(item, group, item.accessControl))
        guard case .allow = adding.judge.judge(request, proven) else { return nil }
        return group
    }

    /// What was imported becomes the program's: it changes and deletes it like what it made itself.
    private func give(
        _ item: SealedItem, to group: String, _ search: SearchPass, _ access: Authorization,
        _ keys: RequestKeys
    ) throws(RequestError) {
        var change = ItemChange()
        change.accessGroup = group
        try write(
            [item], change, access, keys, trust: { $0 }, grant: { Self.grant($0, access) })
        giveKin(change, access, keys)
        guard let given = found([item.reference], in: group, access, keys).first else {
            throw .state(.notFound)
        }
        search.admit(given)
    }

    /// Kin that went elsewhere meanwhile, or that a rule keeps now, stay where they are.
    private func giveKin(_ change: ItemChange, _ access: Authorization, _ keys: RequestKeys) {
        let proven = access.consent?.evidence ?? Evidence()
        let kin = found(access.consent?.kin ?? [], in: ImportedItems.group, access, keys)
        guard !kin.isEmpty,
            let reading = try? context(
                access.intent, admitting: .trusted, access, keys, given: proven)
        else { return }
        try? write(
            kin, change, access, keys, trust: { $0 },
            grant: { item in
                guard case .allow(let grant) = reading.judge(item, proven) else { return nil }
                return grant
            })
    }

    private func found(
        _ items: [ItemReference], in group: String, _ access: Authorization, _ keys: RequestKeys
    ) -> [SealedItem] {
        var query = ItemQuery(.attributed)
        query.references = items
        query.limit = nil
        let found = try? access.keychain.file.find(query, groups: [group], keys: keys.classKeys)
        return found ?? []
    }

    /// The policy may have changed while the user was asked.
    private func mayList(
        _ items: [SealedItem], _ access: Authorization, _ keys: RequestKeys
    ) throws(RequestError) {
        let proven = access.consent?.evidence ?? Evidence()
        let changing = try context(
            access.intent.judged(as: .changeACL), admitting: .mayChange, access, keys,
            given: proven)
        for item in items {
            switch changing.judge(item, proven) {
            case .allow: continue
            case .deny(let denial): throw changing.refusal(denial)
            case .allowAfter: throw .refused(.authenticationFailed)
            }
        }
    }
}
