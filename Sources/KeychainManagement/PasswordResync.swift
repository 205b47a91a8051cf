// SPDX-License-Identifier: Apache-2.0
internal import KeychainAccessControl
package import KeychainActivePolicy
internal import KeychainItemStore
internal import KeychainLinuxSystem
internal import KeychainMessages
package import KeychainModel
internal import KeychainPolicyEngine
internal import KeychainPolicyModel
package import KeychainSecrets
package import KeychainUserPresence
package import KeychainVaults

/// Unlocks a keychain that a request found locked, by what its user types.
package protocol UnlockStep: Sendable {
    /// Whether the user could type something that is known to unlock it.
    func applies(to keychain: OpenKeychain) -> Bool
    func question(
        for keychain: OpenKeychain, _ client: any Client
    ) throws(RequestError) -> UnlockQuestion
    /// Whether the typed secret unlocks it. `begun` is the moment of the question: a lock since
    /// then counts.
    func opens(
        _ keychain: OpenKeychain, _ typed: HeldSecret, for client: any Client,
        since begun: LockGeneration
    ) throws(RequestError) -> Bool
}

/// Resyncs a keychain with a login that had another password: its user types the older password, or
/// the recovery key.
package struct PasswordResync: UnlockStep {
    let vault: any KeyVault
    let protectors: Protectors
    let guesses: UnlockThrottle
    let policy: ActivePolicy
    let limits: PolicyLimits

    package init(
        vault: any KeyVault, protectors: Protectors, guesses: UnlockThrottle,
        policy: ActivePolicy, limits: PolicyLimits
    ) {
        self.vault = vault
        self.protectors = protectors
        self.guesses = guesses
        self.policy = policy
        self.limits = limits
    }

    package func applies(to keychain: OpenKeychain) -> Bool { vault.isOutOfStep(keychain) }

    package func question(
        for keychain: OpenKeychain, _ client: any Client
    ) throws(RequestError) -> UnlockQuestion {
        guard isWithinLimits(client) else { throw .state(.locked) }
        return UnlockQuestion(
            prompt: "Older password: ",
            question: Question(
                .openKeychain, names: [keychain.name.description], itemCount: 0, reason: nil,
                remarks: [
                    "Its password is an older one than your login's. Type that, or its recovery "
                        + "key."
                ]))
    }

    package func opens(
        _ keychain: OpenKeychain, _ typed: HeldSecret, for client: any Client,
        since begun: LockGeneration
    ) throws(RequestError) -> Bool {
        let keys: UnlockedKeys
        do throws(RequestError) { keys = try unlock(keychain, typed) } catch {
            guard error == .refused(.wrongPassword) else { throw error }
            return false
        }
        try vault.keep(keys, of: keychain, for: client.caller, since: begun)
        return true
    }

    /// Whether the policy's limits leave room for another question. The question is counted.
    func isWithinLimits(_ client: any Client) -> Bool {
        let policy = policy.now.judge.policy
        guard !policy.isEmpty else { return true }
        var facts = client.policyFacts(policy.asked)
        facts[.prompted] = .known(true)
        let request = PolicyRequest(.unlock, facts: facts, day: LocalTime.now.day)
        return (try? limits.count(request, policy, client.notes))?.isEmpty ?? false
    }

    private func unlock(
        _ keychain: OpenKeychain, _ typed: HeldSecret
    ) throws(RequestError) -> UnlockedKeys {
        guard (1...RequestLimits.longestPassword).contains(typed.bytes.count) else {
            throw .refused(.wrongPassword)
        }
        return try guesses.attempt(keychain.id) { () throws(RequestError) in
            do throws(RequestError) { return try unlock(keychain, recoveryKey: typed) } catch {
                guard error == .refused(.wrongRecoveryKey) || error == .state(.noSuchProtector)
                else { throw error }
            }
            return try unlock(keychain, ownPassword: typed)
        }
    }

    // MARK: Shared with the verbs

    func unlock(
        _ keychain: OpenKeychain, ownPassword: HeldSecret
    ) throws(RequestError) -> UnlockedKeys {
        guard let renewal = vault.renewal(of: keychain) else {
            return try protectors.unlock(keychain, ownPassword)
        }
        let keys = try protectors.unlock(keychain, ownPassword, goingOnWith: renewal)
        vault.endRenewal(of: keychain)
        return keys
    }

    func unlock(
        _ keychain: OpenKeychain, recoveryKey: HeldSecret
    ) throws(RequestError) -> UnlockedKeys {
        guard let renewal = vault.renewal(of: keychain) else {
            return try protectors.unlock(keychain, recoveryKey: recoveryKey)
        }
        let keys = try protectors.unlock(keychain, recoveryKey: recoveryKey, goingOnWith: renewal)
        vault.endRenewal(of: keychain)
        return keys
    }
}

extension UnlockThrottle {
    /// Makes one guess at a time, and slows down after each wrong one. A protector that needs no
    /// knowledge, such as a TPM, has an `outcome` that shows nothing and forgives no guess:
    /// otherwise a user who guesses could unlock with it in between.
    func attempt<R: ~Copyable>(
        _ keychain: KeychainID, shows outcome: Outcome = .right,
        _ body: () throws(RequestError) -> R
    ) throws(RequestError) -> R {
        try begin(keychain)
        do throws(RequestError) {
            let result = try body()
            end(keychain, outcome)
            return result
        } catch {
            end(keychain, Outcome(error))
            throw error
        }
    }
}
