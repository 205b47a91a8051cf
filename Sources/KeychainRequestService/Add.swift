// SPDX-License-Identifier: Apache-2.0
internal import KeychainAccessControl
internal import KeychainActivePolicy
internal import KeychainItemStore
internal import KeychainMessages
internal import KeychainModel
internal import KeychainPolicyEngine
internal import KeychainPolicyModel
internal import KeychainRequestAudit
internal import KeychainSecrets
internal import KeychainUserPresence
internal import KeychainVaults

extension KeychainService {
    func add(
        _ item: NewItem, _ secret: HeldSecret?, returning parts: ReturnFields,
        for client: any Client
    ) throws(RequestError) -> Item {
        guard secret?.bytes.count ?? 0 <= RequestLimits.largestSecret else {
            throw .invalid(.dataTooLarge)
        }
        let id = try keychainForNew(item.keychain, for: client.caller)
        let keychain = try folder.keychain(id.name.description, of: id.user)
        let prompts = prompts(client)
        var added = try withAccess(to: keychain, .add(item), prompts) {
            access throws(RequestError) in
            let new = try newItem(item, access)
            try access.considerNew(new)
            try access.settle()
            if access.pending.usesApplicationPassword {
                try access.takeApplicationKey(isNew: true, to: [])
            }
            return try access.add(new, secret)
        }
        if item.keychain == nil { added.keychain = keychain.nameToTell }
        added.secret = parts.contains(.data) ? secret : nil
        return added
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
        let scope = ItemScope(groups: client.caller.accessGroups, few: [item])
        let mayNeedProof =
            item.asksForProof(for: .encrypt) || item.asksForProof(for: .decrypt)
            || service.policy.now.judge.policy.asked.contains(AgeField.presence)
        if !mayNeedProof {
            begin(scope, given: nil)
            if try considersUnproven([item]) { return }
        }
        begin(scope, given: service.authentication.evidence(for: client))
        try consider(item)
    }

    fileprivate func add(_ new: SealedItem, _ secret: HeldSecret?) throws(RequestError) -> Item {
        let keys = try keys
        return try change { grant throws(RequestError) in
            guard let granted = grant(new) else { throw .refused(.authenticationFailed) }
            do throws(KeychainStoreError) {
                return try keychain.file.add(new, secret, granted, keys: keys.classKeys)
            } catch { throw RequestError(error) }
        }
    }
}
