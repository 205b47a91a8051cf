// SPDX-License-Identifier: Apache-2.0
internal import KeychainAccessControl
internal import KeychainActivePolicy
internal import KeychainItemStore
internal import KeychainLinuxSystem
internal import KeychainMessages
internal import KeychainModel
internal import KeychainPolicyEngine
internal import KeychainPolicyModel
internal import KeychainRequestAudit
internal import KeychainSecrets
internal import KeychainUserPresence
internal import KeychainVaults

extension KeychainService {
    /// Tries of a call that another one is in the way of.
    private static let mostTurns = 4

    func add(
        _ item: NewItem, _ secret: HeldSecret?, returning parts: ReturnFields,
        for client: any Client
    ) throws(RequestError) -> Item {
        guard secret?.bytes.count ?? 0 <= RequestLimits.largestSecret else {
            throw .invalid(.dataTooLarge)
        }
        try item.itemClass.check(item.attributes)
        let id = try keychainForNew(item.keychain, for: client.caller)
        let keychain = try folder.keychain(id.name.description, of: id.user)
        if item.itemClass == .attributed {
            try check(attributed: item, secret)
            return try addAttributed(item, secret, in: keychain, returning: parts, for: client)
        }
        guard item.whenSame == .add else { throw .invalid(.badRequest) }
        return try add(item, secret, in: keychain, returning: parts, for: client)
    }

    /// Beside all others, in the place of one that is the same, or where there is none.
    private func addAttributed(
        _ item: NewItem, _ secret: HeldSecret?, in keychain: OpenKeychain,
        returning parts: ReturnFields, for client: any Client
    ) throws(RequestError) -> Item {
        for _ in 0..<Self.mostTurns where item.whenSame == .replace {
            do throws(RequestError) {
                if let same = try replaceSame(as: item, secret, in: keychain, for: client) {
                    return same
                }
                return try add(item, secret, in: keychain, returning: parts, for: client)
            } catch {
                // It went, or came, while this call was looking.
                guard error == .state(.notFound) || error == .state(.duplicate) else { throw error }
            }
        }
        guard item.whenSame != .replace else { throw .state(.duplicate) }
        return try add(item, secret, in: keychain, returning: parts, for: client)
    }

    private func add(
        _ item: NewItem, _ secret: HeldSecret?, in keychain: OpenKeychain,
        returning parts: ReturnFields, for client: any Client
    ) throws(RequestError) -> Item {
        let prompts = prompts(client)
        return try withAccess(to: keychain, .add(item), prompts) {
            access throws(RequestError) in
            let new = try newItem(item, access)
            try access.considerNew(new)
            try access.settle()
            if access.pending.usesApplicationPassword {
                try access.takeApplicationKey(isNew: true, to: [])
            }
            let groups = item.whenSame == .add ? [] : try access.groupsOfSame(item)
            let added = try access.add(new, secret, unlessSameIn: groups)
            return added.answered(
                parts, from: item.keychain == nil ? keychain.nameToTell : nil,
                parts.contains(.data) ? secret : nil)
        }
    }

    /// The item as it will be: in its group, under its rights, with the programs that it lets in.
    private func newItem(
        _ item: NewItem, _ access: Authorization
    ) throws(RequestError) -> SealedItem {
        let group = try group(for: item, access)
        var rights = item.accessControl ?? .plain(item.accessible)
        if rights.isBoundToBiometry {
            access.begin(ItemScope(groups: access.client.caller.accessGroups), given: nil)
            rights = try access.context.bound(rights)
        }
        // Root can prove that it is there, but no password has a part in that class's key.
        guard !access.keychain.isSystem || rights.protection != .whenPasscodeSetThisDeviceOnly
        else { throw .state(.passcodeNotSet) }
        var trusted: TrustList?
        if let named = item.trusted {
            trusted = try trustList(named, listedBy: access.client.caller)
        }
        return SealedItem.new(item, in: group, rights, trusting: trusted)
    }

    /// The client's first group, or the one that is named, where the client may have items in it.
    private func group(for item: NewItem, _ access: Authorization) throws(RequestError) -> String {
        guard let named = item.accessGroup else {
            guard let first = access.client.caller.accessGroups.first else {
                throw .refused(.notEntitled)
            }
            return first
        }
        var destination = ItemQuery(item.itemClass)
        destination.accessGroup = named
        destination.attributes = item.attributes
        destination.accessible = item.accessible
        _ = try access.groups(destination)
        return named
    }
}

extension Authorization {
    /// Most items need no proof to be added: so a new one is looked at first without what only proofs
    /// rest on.
    fileprivate func considerNew(_ item: SealedItem) throws(RequestError) {
        let needs = ItemNeeds(of: item, toDo: .encrypt)
        let scope = ItemScope(groups: client.caller.accessGroups, needs: needs)
        let mayNeedProof =
            needs.contains(.proof)
            || service.policy.now.judge.policy.asked.contains(AgeField.presence)
        if !mayNeedProof {
            begin(scope, given: nil)
            if try considersUnasked([item]) { return }
        }
        begin(scope, given: service.authentication.evidence(for: client))
        try consider(item)
    }

    fileprivate func add(
        _ new: SealedItem, _ secret: HeldSecret?, unlessSameIn groups: [String]
    ) throws(RequestError) -> SealedItem {
        let keys = try keys
        return try change { grant throws(RequestError) in
            guard let granted = grant(new) else { throw .refused(.authenticationFailed) }
            do throws(KeychainStoreError) {
                return try keychain.file.add(
                    new, secret, granted, keys: keys.classKeys, unlessSameIn: groups)
            } catch { throw RequestError(error) }
        }
    }
}

// MARK: Items that are the same

extension KeychainService {
    private func check(attributed item: NewItem, _ secret: HeldSecret?) throws(RequestError) {
        try AttributedLimits.check(item.attributes)
        try AttributedLimits.check(secretBytes: secret?.bytes.count ?? 0)
        guard !item.isSynchronizable else { throw .invalid(.badRequest) }
    }

    /// The item of the client's own that has the same pairs, with the new attributes and the new secret;
    /// nil where there is none. Its reference, its date and who may have it stay: it is changed, and
    /// that is what must be allowed.
    private func replaceSame(
        as item: NewItem, _ secret: HeldSecret?, in keychain: OpenKeychain, for client: any Client
    ) throws(RequestError) -> Item? {
        let prompts = prompts(client)
        let found = try withAccess(to: keychain, .add(item), prompts) {
            access throws(RequestError) in try access.same(as: item)
        }
        guard let found else { return nil }
        var query = ItemQuery(.attributed)
        query.keychain = keychain.id.name.description
        query.references = [found.reference]
        query.authenticationUI = item.authenticationUI
        query.reason = item.reason
        var change = ItemChange()
        change.attributes = item.attributes
        change.replacesPairs = true
        let secret = secret ?? HeldSecret(SecretBytes(copying: []))
        _ = try update(query, change, secret, for: client)
        var attributes = change.applied(to: found.attributes)
        // A new item has two equal dates: by them the client tells that this one is none.
        attributes[.modificationDate] = .date(WallClock.secondsSince2001)
        return Item(
            reference: found.reference, attributes: attributes,
            accessControl: found.accessControl.bound(to: []), trusted: found.trusted)
    }
}

extension Authorization {
    /// A program replaces items of its own groups and of those that it joined, and never what others
    /// let it read.
    fileprivate func groupsOfSame(_ item: NewItem) throws(RequestError) -> [String] {
        var destination = ItemQuery(item.itemClass)
        destination.accessGroup = item.accessGroup
        let groups = try groups(destination)
        return groups.own + groups.joined
    }

    fileprivate func same(as item: NewItem) throws(RequestError) -> SealedItem? {
        let groups = try groupsOfSame(item)
        guard !groups.isEmpty else { return nil }
        let keys = try keys
        do throws(KeychainStoreError) {
            return try keychain.file.findSame(
                as: item.attributes, groups: groups, keys: keys.classKeys)
        } catch { throw RequestError(error) }
    }
}
