// SPDX-License-Identifier: Apache-2.0
internal import KeychainRequestAudit
internal import KeychainUserPresence
internal import KeychainVaults
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets

/// Opens a keychain that a request found locked with what its user types.
protocol UnlockStep: Sendable {
    /// Whether something that the user could type is known to open it.
    func applies(to keychain: OpenKeychain) -> Bool
    func question(
        for keychain: OpenKeychain, _ client: any Client
    ) throws(RequestError) -> UnlockQuestion
    /// Whether what was typed opens it. `begun` is when the question was put: a lock since then counts.
    func opens(
        _ keychain: OpenKeychain, _ typed: HeldSecret, for client: any Client,
        since begun: LockGeneration
    ) throws(RequestError) -> Bool
}

extension KeychainService {
    /// Does a verb's work in one keychain, and once more where the keychain was locked and its user
    /// opens it. Work that says `.locked` has changed nothing; `hasTold` is whether it has told
    /// something already, which must not be told again.
    func withAccess<R>(
        to keychain: OpenKeychain, _ intent: Intent, _ prompts: UserPrompts,
        unless hasTold: () -> Bool = { false }, _ work: (Authorization) throws(RequestError) -> R
    ) throws(RequestError) -> R {
        do throws(RequestError) {
            return try work(Authorization(intent, in: keychain, prompts, by: self))
        } catch {
            guard error == .state(.locked), !hasTold(), unlocking.applies(to: keychain),
                prompts.mayAsk(intent.ui)
            else { throw error }
        }
        do throws(RequestError) { try unlock(keychain, prompts) } catch {
            prompts.client.notes.note(step: .unlock, error)
            throw error
        }
        return try work(Authorization(intent, in: keychain, prompts, by: self))
    }

    /// The same in one keychain after the other, until the work says that it has enough.
    func withAccess(
        to keychains: [KeychainID], _ intent: Intent, _ prompts: UserPrompts,
        unless hasTold: () -> Bool = { false }, _ work: (Authorization) throws(RequestError) -> Bool
    ) throws(RequestError) {
        try each(of: keychains) { keychain throws(RequestError) in
            try withAccess(to: keychain, intent, prompts, unless: hasTold, work)
        }
    }

    private func unlock(
        _ keychain: OpenKeychain, _ prompts: UserPrompts
    ) throws(RequestError) {
        let client = prompts.client
        let question = try unlocking.question(for: keychain, client)
        let begun = vault.locks.now(keychain.id)
        try prompts.unlock(
            question, unless: { vault.lockState(of: keychain) == .unlocked },
            with: { typed throws(RequestError) in
                let isOpen = try unlocking.opens(keychain, typed, for: client, since: begun)
                if isOpen { client.notes.note(step: .unlock, nil) }
                return isOpen
            })
    }
}
