// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyEngine
internal import KeychainPolicyModel
internal import KeychainAccessControl
internal import KeychainItemStore
internal import KeychainMessages
internal import KeychainModel
internal import KeychainRequestAudit
internal import KeychainSecrets
internal import KeychainUserPresence
internal import KeychainVaults

extension KeychainService {
    /// Updates all matching items of a keychain or none, in one keychain after the other.
    func update(
        _ query: ItemQuery, _ change: ItemChange, _ secret: HeldSecret?, for client: any Client
    ) throws(RequestError) -> Int {
        guard secret?.bytes.count ?? 0 <= RequestLimits.largestSecret else {
            throw .invalid(.dataTooLarge)
        }
        if query.itemClass == .attributed {
            try AttributedLimits.check(change.attributes)
            try AttributedLimits.check(secretBytes: secret?.bytes.count ?? 0)
        }
        let trust = try change.trust.map { trust throws(RequestError) in
            try trustUpdate(trust, by: client.caller)
        }
        var count = 0
        let keychains = try keychains(query, toChange: true, for: client)
        let prompts = prompts(client)
        try changing(query, for: client) { () throws(RequestError) in
            try withAccess(to: keychains, .update(query), prompts) { access throws(RequestError) in
                var update = ItemUpdate(change: change, secret: secret, trust: trust)
                let meant = try access.authorize(&update, of: query)
                count += try access.write(update, to: meant)
                return false
            }
        }
        return count
    }
}

/// The change that is written to each item.
private struct ItemUpdate {
    var change: ItemChange
    let secret: HeldSecret?
    let trust: ((TrustList?) -> TrustList?)?
}

extension Authorization {
    /// Returns the items to change, after the user was asked for every proof that the change needs.
    /// The old secrets are opened on the way, so that reading them must be allowed.
    fileprivate func authorize(
        _ update: inout ItemUpdate, of query: ItemQuery
    ) throws(RequestError) -> MeantItems {
        let change = update.change
        try checkDestination(query, change)
        let groups = try groups(query)
        begin(
            scope(of: change, in: groups), given: service.authentication.evidence(for: client),
            // A change of the trusted programs needs a new proof by the user, whatever was proven
            // before.
            trusting: change.trust == nil ? nil : Evidence())
        let meant = try consider(query, change, groups)
        update.change.accessControl = try change.accessControl.map { rights throws(RequestError) in
            try context.bound(rights)
        }
        let isNew = !pending.usesApplicationPassword
        if !isNew || change.accessControl?.needsApplicationPassword == true {
            try takeApplicationKey(isNew: isNew, to: pending.passwordItems)
        }
        return meant
    }

    private func consider(
        _ query: ItemQuery, _ change: ItemChange, _ groups: GroupScope
    ) throws(RequestError) -> MeantItems {
        var isMove = false
        let meant = try meant(by: query, in: groups) { item throws(RequestError) in
            try consider(item)
            if change.trust != nil { try requirePresence(for: item) }
            isMove = isMove || change.moves(item)
        }
        guard !meant.items.isEmpty else { throw .state(.notFound) }
        try settle(
            remarks: [change.trust?.remark, isMove ? change.moveRemark : nil].compactMap { $0 })
        return meant
    }

    fileprivate func write(_ update: ItemUpdate, to meant: MeantItems) throws(RequestError) -> Int {
        let keys = try keys
        let count = try change { grant throws(RequestError) in
            // A new secret replaces the old one unopened, so that success proves no password right.
            try service.guessing(
                pending.passwordItems, in: keychain,
                shows: update.secret == nil ? .right : .undecided
            ) { () throws(KeychainStoreError) in
                try keychain.file.update(
                    meant.items, update.change, update.secret, keys: keys.classKeys,
                    by: client.caller.identifier ?? "", trust: update.trust, grant: grant)
            }
        }
        if let trust = update.change.trust {
            client.notes.note(trust: trust.word)
            // The change may take back a consent that was given for a session.
            service.authentication.trust.forget(meant.references, of: client.caller.user)
        }
        return count
    }

    /// The scope in which each item is also judged as the update would leave it.
    private func scope(of change: ItemChange, in groups: GroupScope) -> ItemScope {
        let destination = change.accessGroup.flatMap(client.caller.accessGroups.firstSame)
        return ItemScope(groups: groups.own) { context in
            context.also = { context, item in
                UpdateRequests(change, context, destination: destination).requests(on: item)
            }
        }
    }

    /// The new group must be one that the client may add items to.
    private func checkDestination(
        _ query: ItemQuery, _ change: ItemChange
    ) throws(RequestError) {
        guard let group = change.accessGroup else { return }
        var destination = ItemQuery(query.itemClass)
        destination.accessGroup = group
        destination.attributes = query.attributes.merging(change.attributes)
        destination.accessible = change.accessible ?? query.accessible
        _ = try groups(destination, for: .add)
    }

    /// A change of the programs that an item trusts, beside its groups, needs its user's presence.
    /// Where no user can be proven to own the keychain, the item's own programs may make it.
    func requirePresence(for item: SealedItem) throws(RequestError) {
        let context = try context
        guard context.circumstances.keychain.isPasscodeSet == true else {
            guard context.isOwn(item) else { throw .state(.passcodeNotSet) }
            return
        }
        guard prompts.mayAsk(intent.ui) else { throw .refused(.interactionNotAllowed) }
        require(Requirement(.factor(.presence)), for: item)
    }
}

// MARK: Requests to judge

/// The requests that an update makes of an item beyond changing it. They are judged before the user
/// is asked, and again when the items are changed.
struct UpdateRequests {
    private let change: ItemChange
    /// The item as it is.
    private let before: AuthorizationContext
    /// The circumstances of the changed item, with the groups that it may move to.
    private let after: AccessRequest.Circumstances

    /// `destination` is the new group where it is one of the caller's own.
    init(_ change: ItemChange, _ before: AuthorizationContext, destination: String?) {
        self.change = change
        self.before = before
        after = before.circumstances.of(
            .encrypt, as: .update,
            callerGroups: before.circumstances.callerGroups + [destination].compactMap { $0 })
    }

    func requests(on item: SealedItem) -> [AccessRequest] {
        result(item) + move(item) + changeOfRights(item)
    }

    private var namesRights: Bool { change.accessControl != nil || change.accessible != nil }

    private func rights(of item: SealedItem) -> ItemAccessControl {
        change.accessControl.map(before.bound) ?? change.applied(to: item.accessControl)
    }

    private func item(_ item: SealedItem) -> AccessRequest.Item {
        before.item(item, item.accessGroup, item.accessControl)
    }

    private func changed(_ item: SealedItem) -> AccessRequest.Item {
        before.item(
            item, change.accessGroup ?? item.accessGroup, rights(of: item),
            changedBy: change)
    }

    /// New access control is judged like a new item's, so that no program locks itself out.
    private func result(_ item: SealedItem) -> [AccessRequest] {
        guard namesRights || change.trust != nil || !before.judge.policy.isEmpty else {
            return []
        }
        return [AccessRequest(after, on: changed(item))]
    }

    /// A move takes the item from one group and adds it to another.
    private func move(_ item: SealedItem) -> [AccessRequest] {
        guard change.moves(item) else { return [] }
        let taking = before.circumstances.of(before.circumstances.operation, as: .move)
        let there = changed(item)
        return [
            AccessRequest(taking, on: self.item(item)),
            AccessRequest(after.of(.encrypt, as: .move), on: there),
            AccessRequest(after.of(.encrypt, as: .add), on: there),
        ]
    }

    /// Programs pass access control with each update, mostly unchanged: only a real change is
    /// judged.
    private func changeOfRights(_ item: SealedItem) -> [AccessRequest] {
        let changing = before.circumstances.of(before.circumstances.operation, as: .changeACL)
        var requests: [AccessRequest] = []
        if change.trust != nil {
            var listed = self.item(item)
            listed.admission = .mayChange
            requests.append(AccessRequest(changing, on: listed))
        }
        if namesRights, rights(of: item) != item.accessControl, !isUnguarded(item) {
            requests.append(AccessRequest(changing, on: self.item(item)))
        }
        return requests
    }

    /// Whether the program could read the item, delete it and add it again without a question: then
    /// a question before a change of its rights would guard nothing.
    private func isUnguarded(_ item: SealedItem) -> Bool {
        before.isOwn(item) && item.trusted == nil
            && item.accessControl == .plain(item.accessControl.protection)
    }
}

extension ItemChange {
    /// Whether the change moves the item to another group.
    func moves(_ item: SealedItem) -> Bool {
        accessGroup.map { !$0.utf8.elementsEqual(item.accessGroup.utf8) } ?? false
    }
}
