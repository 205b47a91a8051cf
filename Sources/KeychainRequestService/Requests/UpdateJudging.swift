// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyEngine
internal import KeychainPolicyModel
internal import KeychainAccessControl
internal import KeychainItemStore
internal import KeychainModel

/// What an update does to an item beyond changing it, as requests of their own: before the user is
/// asked, and again when the items are changed.
struct UpdateJudging: Sendable {
    private let change: ItemChange
    /// The item as it is.
    private let before: Judging
    /// The item as it will be, with the groups that it may be given to.
    private let after: AccessRequest.Circumstances

    /// `destination` is the new group where it is one of the caller's own.
    init(_ change: ItemChange, _ before: Judging, destination: String?) {
        self.change = change
        self.before = before
        after = before.circumstances.of(
            .encrypt, as: .update,
            callerGroups: before.circumstances.callerGroups + [destination].compactMap { $0 })
    }

    func requests(_ item: SealedItem) -> [AccessRequest] {
        result(item) + move(item) + changeOfRights(item)
    }

    private var newRights: ItemAccessControl? {
        change.accessControl ?? change.accessible.map(ItemAccessControl.plain)
    }

    private func rights(of item: SealedItem) -> ItemAccessControl {
        guard let newRights else { return item.accessControl }
        return newRights.isBoundToBiometry ? newRights.bound(to: before.biometry) : newRights
    }

    private func item(_ item: SealedItem) -> AccessRequest.Item {
        before.item(item, item.accessGroup, item.accessControl)
    }

    private func changed(_ item: SealedItem) -> AccessRequest.Item {
        before.item(
            item, change.accessGroup ?? item.accessGroup, rights(of: item),
            changed: change.attributes)
    }

    /// New rights are judged like those of a new item, so that no program locks itself out.
    private func result(_ item: SealedItem) -> [AccessRequest] {
        guard newRights != nil || change.trust != nil || !before.judge.policy.isEmpty else {
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

    /// Programs say the rights with each update, mostly those that the item has.
    private func changeOfRights(_ item: SealedItem) -> [AccessRequest] {
        let changing = before.circumstances.of(before.circumstances.operation, as: .changeACL)
        var requests: [AccessRequest] = []
        if change.trust != nil {
            var listed = self.item(item)
            listed.admission = .mayChange
            requests.append(AccessRequest(changing, on: listed))
        }
        if newRights != nil, rights(of: item) != item.accessControl, !isUnguarded(item) {
            requests.append(AccessRequest(changing, on: self.item(item)))
        }
        return requests
    }

    /// The program could read the item, delete it and add it again, all of it unasked: a question
    /// before its rights change would guard nothing.
    private func isUnguarded(_ item: SealedItem) -> Bool {
        before.isOwn(item) && item.trusted == nil
            && item.accessControl == .plain(item.accessControl.protection)
    }
}

extension ItemChange {
    /// Whether it gives the item to another group.
    func moves(_ item: SealedItem) -> Bool {
        accessGroup.map { !$0.utf8.elementsEqual(item.accessGroup.utf8) } ?? false
    }

    /// What a move comes to, for the user who has to agree.
    var moveRemark: String? {
        guard let accessGroup else { return nil }
        return "It would give the item for good to \(ProgramWords.of(accessGroup)), which opens it "
            + "unasked, whichever program starts that."
    }
}
