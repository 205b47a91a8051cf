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
        let caller = asker.caller
        guard let group = try groups(item.accessGroup, of: caller).first else {
            throw .notEntitled
        }
        guard secret?.bytes.count ?? 0 <= Request.largestSecret else { throw .dataTooLarge }
        let keychain = try keychain(item.keychain, for: caller)
        var keys = try vault.keys(of: keychain)
        var judging = try judging(
            .encrypt, keychain, keys, groups: [group], ui: item.authenticationUI, for: asker)
        let accessControl = bound(item.accessControl ?? .plain(item.accessible), to: judging)
        let new = SealedItem.new(item, in: group, accessControl)
        let needs = try Needs([new], judging, given: authentication.evidence(for: asker))
        let evidence = try evidence(for: needs, .add, reason: item.reason, for: asker)
        if evidence != nil {
            keys = try vault.keys(of: keychain)
            judging = try self.judging(
                .encrypt, keychain, keys, groups: [group], ui: item.authenticationUI, for: asker)
        }
        if needs.usesApplicationPassword {
            keys.applicationKey = try applicationKey(
                keychain, question(needs, .add, item.reason, asker), isNew: true,
                item.authenticationUI, for: asker)
        }
        let proven = evidence ?? needs.evidence
        guard case .allow(let grant) = judging.judge(new, proven) else {
            throw .authenticationFailed
        }
        guard asker.isUnchanged() else { throw .notEntitled }
        let added: FoundItem
        do { added = try keychain.file.add(new, secret, grant, keys: keys) } catch {
            throw Refusal(error)
        }
        audit?.record(.add, caller, evidence ?? Evidence(), nil)
        var answer = Answer()
        answer.items = [
            AnsweredItem(item: added, secret: parts.contains(.data) ? secret : nil)
        ]
        answer.count = 1
        return answer
    }

    /// Rights that ask for the biometry that is enrolled now are bound to it.
    func bound(_ rights: ItemAccessControl, to judging: Judging) -> ItemAccessControl {
        rights.isBoundToBiometry ? rights.bound(to: judging.biometry) : rights
    }
}
