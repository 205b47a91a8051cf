// SPDX-License-Identifier: Apache-2.0
internal import KeychainAccessControl
internal import KeychainItemStore
internal import KeychainMessages
internal import KeychainModel
internal import KeychainPolicyModel
internal import KeychainRequestAudit
internal import KeychainUserPresence
internal import KeychainVaults

/// Which programs users let into items of the class `attributed` for good, and how they take back
/// that one joined a group (docs/design/letting-in.md, All of it).
extension KeychainService {
    /// Entries of one part of an answer.
    private static let mostLetIn = 64

    func letIn(
        _ verb: ListLetIn, for client: any Client, emit: ([LetIn]) throws(RequestError) -> Void
    ) throws(RequestError) -> [LetIn] {
        let keychain = try keychain(verb.keychain, of: client)
        let prompts = prompts(client)
        // A list may be very long: the service holds one part of it.
        var part: [LetIn] = []
        var hasTold = false
        try withAccess(to: keychain, .listLetIn, prompts, unless: { hasTold }) {
            access throws(RequestError) in
            part = []
            try access.eachLetIn { entry throws(RequestError) in
                if part.count == Self.mostLetIn {
                    try prompts.checkClient()
                    hasTold = true
                    try emit(part)
                    part = []
                }
                part.append(entry)
            }
        }
        try prompts.checkClient()
        return part
    }

    func leave(_ verb: LeaveGroup, for client: any Client) throws(RequestError) {
        guard JoinedGroups.isOpen(verb.group),
            (1...TrustedApplication.longestIdentity).contains(verb.program.utf8.count)
        else { throw .invalid(.badRequest) }
        let keychain = try keychain(verb.keychain, of: client)
        try withAccess(to: keychain, .leaveGroup, prompts(client)) { access throws(RequestError) in
            try access.remove(verb.program, from: verb.group)
        }
        changes.note(
            [KeychainChange(keychain: keychain.name.description, .replaced)], of: keychain.user)
    }

    private func keychain(
        _ name: String?, of client: any Client
    ) throws(RequestError) -> OpenKeychain {
        let name = try KeychainFolder.verified(name)
        guard name != .system else { throw .refused(.notEntitled) }
        return try folder.keychain(name.description, of: client.caller.user)
    }
}

extension Intent {
    fileprivate static let listLetIn = Intent(
        operation: .decrypt, policyOperation: .list, purpose: .listLetIn, ui: .allow, reason: nil)
    fileprivate static let leaveGroup = Intent(
        operation: .decrypt, policyOperation: .update, purpose: .change, ui: .allow, reason: nil)
}

extension SealedItem {
    /// A stand-in for the items of a group, by which requests about the group are judged.
    fileprivate static func standIn(for group: String) -> SealedItem {
        var item = NewItem(.attributed)
        let program = group.hasPrefix("exe:/") ? String(group.dropFirst("exe:".count)) : group
        item.attributes[.label] = .string("all of " + program)
        return new(item, in: group, .plain(item.accessible), trusting: TrustList())
    }
}

extension Authorization {
    /// Of the items and groups that the client may list with what its user proves for this request.
    fileprivate func eachLetIn(
        _ body: (LetIn) throws(RequestError) -> Void
    ) throws(RequestError) {
        begin(ItemScope(groups: client.caller.accessGroups), given: Evidence())
        guard try keys.classKeys.isUnlocked else { throw .state(.locked) }
        let proven = try presence()
        let (keys, context) = (try keys, try context)
        var unlock = keys.unlock
        /// nil for an item that the client may not list.
        func hidesLabel(_ item: SealedItem) -> Bool? {
            guard case .allow(let grant) = context.judge(item, proven) else { return nil }
            return grant.redacted.contains("label")
        }
        for group in try joinedGroupsOfAll(keys) where hidesLabel(.standIn(for: group.name)) != nil
        {
            for program in group.programs.applications {
                try body(LetIn(program, group: group.name, item: nil, label: ""))
            }
        }
        var query = ItemQuery(.attributed)
        query.limit = nil
        try keychain.each(query, in: .askable(besides: []), keys.classKeys) {
            item throws(RequestError) in
            try unlock.checkNowAndThen(item.availability)
            let programs = item.trusted?.applications ?? []
            guard !programs.isEmpty, let hidesLabel = hidesLabel(item) else { return true }
            for program in programs {
                try body(
                    LetIn(
                        program, group: item.accessGroup, item: item.reference,
                        label: hidesLabel ? "" : item.shownName))
            }
            return true
        }
        try unlock.check(.whileUnlocked)
    }

    /// An entry that is not believed counts as none.
    private func joinedGroupsOfAll(
        _ keys: RequestKeys
    ) throws(RequestError) -> [JoinedGroups.Group] {
        do throws(KeychainStoreError) {
            return try keychain.file.joinedGroups(keys.classKeys).groups
        } catch {
            guard error == .damaged else { throw RequestError(error) }
            return []
        }
    }

    /// The user's presence, proven for this very request; nothing where no user can be proven.
    private func presence() throws(RequestError) -> Evidence {
        guard try context.circumstances.keychain.isPasscodeSet == true else { return Evidence() }
        guard prompts.mayAsk(intent.ui) else { throw .refused(.interactionNotAllowed) }
        return try prompts.prove(
            Requirement(.factor(.presence)),
            Question(
                intent.purpose, names: [keychain.name.description], itemCount: 0,
                reason: client.context?.reason),
            given: Evidence())
    }

    /// Takes what a change of the list of one of the group's items takes.
    fileprivate func remove(_ program: String, from group: String) throws(RequestError) {
        var change = ItemChange()
        change.trust = .remove([program])
        let standIn = SealedItem.standIn(for: group)
        begin(
            ItemScope(groups: client.caller.accessGroups) { [change] context in
                context.also = { context, item in
                    UpdateRequests(change, context, destination: nil).requests(on: item)
                }
            }, given: service.authentication.evidence(for: client), trusting: Evidence())
        guard try keys.classKeys.isUnlocked else { throw .state(.locked) }
        try consider(standIn)
        try requirePresence(for: standIn)
        try settle(remarks: [change.trust?.remark].compactMap(\.self))
        switch try verdict(on: standIn) {
        case .allow: break
        case .deny(let denial): throw try context.refusal(denial)
        case .allowAfter: throw .refused(.authenticationFailed)
        }
        try prompts.checkClient()
        let keys = try keys
        try keys.unlock.check(.whileUnlocked)
        let isGone: Bool
        do throws(KeychainStoreError) {
            isGone = try keychain.file.changeJoinedGroups(keys.classKeys) {
                $0.remove(program, from: group)
            }
        } catch { throw RequestError(error) }
        guard isGone else { throw .state(.notFound) }
        client.notes.note(trust: change.trust?.word ?? "")
        client.notes.noteChange()
    }
}
