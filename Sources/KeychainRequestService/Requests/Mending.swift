// SPDX-License-Identifier: Apache-2.0
internal import KeychainAccessControl
internal import KeychainItemStore
internal import KeychainLocalSocket
internal import KeychainMessages
internal import KeychainModel
internal import KeychainPolicyEngine
internal import KeychainPolicyModel
internal import KeychainSecrets

/// What puts a keychain in step again with a login whose password it did not know.
extension KeychainService {
    /// Does the work, and once more where nothing but such a login kept the keychain closed and its
    /// user, who is asked, can open it. Work that says `.locked` has changed nothing; `hasTold` is
    /// whether it has told something already, which must not be told again.
    func mending<R>(
        _ keychain: OpenKeychain, _ ui: ItemQuery.AuthenticationUI, for asker: any Asker,
        unless hasTold: () -> Bool = { false }, _ work: () throws(Refusal) -> R
    ) throws(Refusal) -> R {
        do throws(Refusal) { return try work() } catch {
            guard error == .locked, !hasTold(), vault.isOutOfStep(keychain),
                authentication.mayAsk(ui, for: asker)
            else { throw error }
        }
        do throws(Refusal) { try mend(keychain, for: asker) } catch {
            audit?.record(.unlock, asker, Evidence(), error)
            throw error
        }
        return try work()
    }

    private func mend(_ keychain: OpenKeychain, for asker: any Asker) throws(Refusal) {
        guard isWithinLimits(asker) else { throw .locked }
        // A lock while the user is asked counts.
        let begun = vault.locks.now(keychain.place)
        let question = Question(
            .openKeychain, names: [keychain.name.description], itemCount: 0, reason: nil,
            remarks: [
                "Its password is an older one than your login's. Type that, or its recovery key."
            ])
        try authentication.open(
            "Older password: ", question, for: asker,
            unless: { vault.lockState(of: keychain) == .unlocked },
            with: { typed throws(Refusal) in
                let keys: UnlockedKeys
                do throws(Refusal) { keys = try unlock(keychain, typed) } catch {
                    guard error == .wrongPassword else { throw error }
                    return false
                }
                try vault.keep(keys, of: keychain, for: asker.caller, since: begun)
                audit?.record(.unlock, asker, Evidence(), nil)
                return true
            })
    }

    /// Whether the policy's limits leave room for another question. Counts it.
    private func isWithinLimits(_ asker: any Asker) -> Bool {
        let policy = policy.now.judge.policy
        guard !policy.isEmpty else { return true }
        var facts = asker.policyFacts(policy.asked)
        facts[.prompted] = .known(true)
        let request = PolicyRequest(.unlock, facts: facts, day: LocalTime.now.day)
        return (try? limits.count(request, policy, asker.notes))?.isEmpty ?? false
    }

    private func unlock(
        _ keychain: OpenKeychain, _ typed: HeldSecret
    ) throws(Refusal) -> UnlockedKeys {
        guard (1...Request.longestPassword).contains(typed.bytes.count) else {
            throw .wrongPassword
        }
        return try attempt(keychain.place) { () throws(Refusal) in
            do throws(Refusal) { return try unlock(keychain, recoveryKey: typed) } catch {
                guard error == .wrongRecoveryKey || error == .noSuchProtector else { throw error }
            }
            return try unlock(keychain, ownPassword: typed)
        }
    }

    // MARK: The asker

    func unlock(
        _ keychain: OpenKeychain, ownPassword: HeldSecret
    ) throws(Refusal) -> UnlockedKeys {
        guard let renewal = vault.renewal(of: keychain) else {
            return try protectors.unlock(keychain, ownPassword)
        }
        let keys = try protectors.unlock(keychain, ownPassword, goingOnWith: renewal)
        vault.endRenewal(of: keychain)
        return keys
    }

    func unlock(
        _ keychain: OpenKeychain, recoveryKey: HeldSecret
    ) throws(Refusal) -> UnlockedKeys {
        guard let renewal = vault.renewal(of: keychain) else {
            return try protectors.unlock(keychain, recoveryKey: recoveryKey)
        }
        let keys = try protectors.unlock(keychain, recoveryKey: recoveryKey, goingOnWith: renewal)
        vault.endRenewal(of: keychain)
        return keys
    }
}
