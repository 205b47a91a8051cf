// SPDX-License-Identifier: Apache-2.0
internal import AccessControl
internal import KeychainMessages
internal import KeychainModel
internal import KeychainStore
internal import Secrets

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
        let caller = asker.caller
        var unlock = UnlockWatch(keychain, vault)
        var keys = try vault.keys(of: keychain)
        let group = try group(for: item, keychain, keys, asker)
        let own = caller.accessGroups
        let given = authentication.evidence(for: asker)
        var judging = try judging(
            .encrypt, as: .add, keychain, keys, groups: own, ui: item.authenticationUI,
            given: given, for: asker)
        let accessControl = bound(item.accessControl ?? .plain(item.accessible), to: judging)
        // Root can prove that it is there, but no password has a part in that class's key.
        guard !keychain.isSystem || accessControl.protection != .whenPasscodeSetThisDeviceOnly
        else { throw .passcodeNotSet }
        let trusted: TrustList?
        if let named = item.trusted {
            trusted = try trustList(named, listedBy: caller)
        } else {
            trusted = nil
        }
        let new = SealedItem.new(item, in: group, accessControl, trusting: trusted)
        var needs = try Needs([new], judging, given: given)
        try countLimits(&needs, new, judging)
        let evidence = try evidence(for: needs, .add, reason: item.reason, for: asker)
        if evidence != nil {
            unlock = UnlockWatch(keychain, vault)
            keys = try vault.keys(of: keychain)
            judging = try self.judging(
                .encrypt, as: .add, keychain, keys, groups: own, ui: item.authenticationUI,
                given: evidence, for: asker)
        }
        if needs.usesApplicationPassword {
            keys.applicationKey = try applicationKey(
                keychain, question(needs, .add, item.reason, asker), isNew: true,
                to: [], item.authenticationUI, for: asker)
        }
        let proven = evidence ?? needs.evidence
        guard case .allow(let grant) = judging.judge(new, proven) else {
            throw .authenticationFailed
        }
        asker.notes.note(grant)
        guard asker.isUnchanged() else { throw .notEntitled }
        try unlock.check(accessControl.protection.availability)
        var added: FoundItem
        do { added = try keychain.file.add(new, secret, grant, keys: keys) } catch {
            throw Refusal(error)
        }
        if item.keychain == nil { added.keychain = keychain.nameToTell }
        audit?.record(.add, asker, evidence ?? Evidence(), nil)
        var answer = Answer()
        answer.items = [
            AnsweredItem(item: added, secret: parts.contains(.data) ? secret : nil)
        ]
        answer.count = 1
        return answer
    }

    /// The caller's first group, or the one that is named where he may have items in it.
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
