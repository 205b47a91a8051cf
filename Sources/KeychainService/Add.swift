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
        let accessControl = item.accessControl ?? .plain(item.accessible)
        let new = SealedItem.new(item, in: group, accessControl)
        let evidence = try evidence(
            for: Needs([new], judging), .add, reason: nil, for: asker)
        if evidence != nil {
            keys = try vault.keys(of: keychain)
            judging = try self.judging(
                .encrypt, keychain, keys, groups: [group], ui: item.authenticationUI, for: asker)
        }
        guard case .allow(let grant) = judging.judge(new, evidence ?? Evidence()) else {
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
}
