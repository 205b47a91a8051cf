// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel
internal import KeychainAccessControl
internal import KeychainItemStore
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets

extension KeychainService {
    func add(
        _ item: NewItem, _ secret: HeldSecret?, returning parts: ItemQuery.Parts,
        for asker: any Asker
    ) throws(Refusal) -> Answer {
        guard secret?.bytes.count ?? 0 <= Request.largestSecret else { throw .dataTooLarge }
        let place = try placeOfNew(item.keychain, for: asker.caller)
        let keychain = try folder.keychain(place.name.description, of: place.user)
        return try mending(keychain, item.authenticationUI, for: asker) { () throws(Refusal) in
            try add(item, secret, returning: parts, to: keychain, for: asker)
        }
    }

    private func add(
        _ item: NewItem, _ secret: HeldSecret?, returning parts: ItemQuery.Parts,
        to keychain: OpenKeychain, for asker: any Asker
    ) throws(Refusal) -> Answer {
        let keys = try RequestKeys(of: keychain, vault)
        let group = try group(for: item, keychain, keys.classKeys, asker)
        let access = try Authorization(
            .add(item), within: asker.caller.accessGroups, keys, for: asker, by: self,
            given: authentication.evidence(for: asker))
        let new = try newItem(item, in: group, access)
        try access.consider(new)
        try access.settle()
        if access.needs.usesApplicationPassword {
            try access.takeApplicationKey(isNew: true, to: [])
        }
        let grant = try access.grant(new)
        try access.checkClient()
        try keys.unlock.check(new.availability)
        var added: FoundItem
        do { added = try keychain.file.add(new, secret, grant, keys: keys.classKeys) } catch {
            throw Refusal(error)
        }
        if item.keychain == nil { added.keychain = keychain.nameToTell }
        audit?.record(.add, asker, access.proven ?? Evidence(), nil)
        var answer = Answer()
        answer.items = [
            AnsweredItem(item: added, secret: parts.contains(.data) ? secret : nil)
        ]
        answer.count = 1
        return answer
    }

    /// The item as it will be: in its group, under its rights, with the programs that it lets in.
    private func newItem(
        _ item: NewItem, in group: String, _ access: Authorization
    ) throws(Refusal) -> SealedItem {
        let rights = bound(item.accessControl ?? .plain(item.accessible), to: access.judging)
        // Root can prove that it is there, but no password has a part in that class's key.
        guard !access.keychain.isSystem || rights.protection != .whenPasscodeSetThisDeviceOnly
        else { throw .passcodeNotSet }
        var trusted: TrustList?
        if let named = item.trusted {
            trusted = try trustList(named, listedBy: access.client.caller)
        }
        return SealedItem.new(item, in: group, rights, trusting: trusted)
    }

    /// The caller's first group, or the one that is named, where the caller may have items in it.
    private func group(
        for item: NewItem, _ keychain: OpenKeychain, _ keys: borrowing ClassKeys,
        _ asker: any Asker
    ) throws(Refusal) -> String {
        guard let named = item.accessGroup else {
            guard let first = asker.caller.accessGroups.first else { throw .notEntitled }
            return first
        }
        var place = ItemQuery(item.itemClass)
        place.accessGroup = named
        place.attributes = item.attributes
        place.accessible = item.accessible
        _ = try groups(place, .add, keychain, keys, for: asker)
        return named
    }

    /// Rights that ask for the biometry that is enrolled now are bound to it.
    func bound(_ rights: ItemAccessControl, to judging: Judging) -> ItemAccessControl {
        rights.isBoundToBiometry ? rights.bound(to: judging.biometry) : rights
    }
}
