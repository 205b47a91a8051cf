// SPDX-License-Identifier: Apache-2.0
internal import AccessControl
internal import KeychainMessages
internal import KeychainModel
internal import KeychainStore
internal import Secrets

extension KeychainService {
    /// Items that one call may change.
    private static let mostItems = 100_000

    /// Changes every item found, or none. The old secrets are opened on the way, so that reading
    /// them must be allowed.
    func update(
        _ query: ItemQuery, _ change: ItemChange, _ secret: HeldSecret?, for asker: any Asker
    ) throws(Refusal) -> Answer {
        let caller = asker.caller
        let groups = try groups(query.accessGroup, of: caller)
        if let group = change.accessGroup { _ = try self.groups(group, of: caller) }
        guard secret?.bytes.count ?? 0 <= Request.largestSecret else { throw .dataTooLarge }
        let keychain = try keychain(query.keychain, for: caller)
        var keys = try vault.keys(of: keychain)
        var search = query
        search.limit = Self.mostItems
        let found: [SealedItem]
        do { found = try keychain.file.find(search, groups: groups, keys: keys) } catch {
            throw Refusal(error)
        }
        guard !found.isEmpty else { throw .notFound }
        var judging = try judging(
            .decrypt, keychain, keys, groups: groups, ui: query.authenticationUI, for: asker)
        try judgeNewRights(found, change, keychain, keys, for: asker)
        let needs = try Needs(found, judging, given: authentication.evidence(for: asker))
        let proven = try evidence(for: needs, .change, reason: query.reason, for: asker)
        if proven != nil {
            keys = try vault.keys(of: keychain)
            judging = try self.judging(
                .decrypt, keychain, keys, groups: groups, ui: query.authenticationUI, for: asker)
        }
        let evidence = proven ?? needs.evidence
        var change = change
        change.accessControl = change.accessControl.map { bound($0, to: judging) }
        if needs.usesApplicationPassword || change.accessControl?.needsApplicationPassword == true {
            keys.applicationKey = try applicationKey(
                keychain, question(needs, .change, query.reason, asker),
                isNew: !needs.usesApplicationPassword, query.authenticationUI, for: asker)
        }
        guard asker.isUnchanged() else { throw .notEntitled }
        var answer = Answer()
        do {
            answer.count = try keychain.file.update(found, change, secret, keys: keys) { item in
                guard case .allow(let grant) = judging.judge(item, evidence) else { return nil }
                return grant
            }
        } catch {
            throw Refusal(error)
        }
        audit?.record(.update, caller, proven ?? Evidence(), nil)
        return answer
    }

    /// New rights are judged like those of a new item: nobody locks himself out.
    private func judgeNewRights(
        _ found: [SealedItem], _ change: ItemChange, _ keychain: OpenKeychain,
        _ keys: borrowing ClassKeys, for asker: any Asker
    ) throws(Refusal) {
        guard let rights = change.accessControl ?? change.accessible.map(ItemAccessControl.plain)
        else { return }
        for item in found {
            let group = change.accessGroup ?? item.accessGroup
            let judging = try judging(
                .encrypt, keychain, keys, groups: [group], ui: .fail, for: asker)
            let changed = judging.item(item.reference, group, bound(rights, to: judging))
            if case .deny(let denial) = judging.judge(changed, Evidence()) {
                throw Refusal(denial)
            }
        }
    }
}
