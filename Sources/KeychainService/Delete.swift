// SPDX-License-Identifier: Apache-2.0
internal import AccessControl
internal import KeychainMessages
internal import KeychainModel
internal import KeychainStore

extension KeychainService {
    /// Deletes every item found, or none. What can't be read for want of a key can be deleted.
    func delete(_ query: ItemQuery, for asker: any Asker) throws(Refusal) -> Answer {
        let caller = asker.caller
        let groups = try groups(query.accessGroup, of: caller)
        let keychain = try keychain(query.keychain, for: caller)
        let keys = try vault.keys(of: keychain)
        let judging = try judging(
            .delete, keychain, keys, groups: groups, ui: query.authenticationUI, for: asker)
        guard asker.isUnchanged() else { throw .notEntitled }
        let evidence = authentication.evidence(for: asker)
        var denied: Refusal?
        var answer = Answer()
        do {
            answer.count = try keychain.file.delete(query, groups: groups, keys: keys) { item in
                switch judging.judge(item, evidence) {
                case .allow(let grant): return grant
                case .deny(let denial): denied = Refusal(denial)
                case .allowAfter: denied = .authenticationFailed
                }
                return nil
            }
        } catch {
            throw denied ?? Refusal(error)
        }
        audit?.record(.delete, caller, Evidence(), nil)
        return answer
    }
}
