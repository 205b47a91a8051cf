// SPDX-License-Identifier: Apache-2.0
internal import KeychainAccessControl
internal import KeychainItemStore
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets

/// What a user does with whole keychains.
extension KeychainService {
    func createKeychain(
        _ name: String, _ password: HeldSecret?, _ recoveryKey: HeldSecret?, for asker: any Asker
    ) throws(Refusal) -> Answer {
        let name = try KeychainFolder.verified(name)
        guard name != .system else {
            throw folder.hasSystemKeychain ? .duplicateKeychain : .notImplemented
        }
        try checkLength(password)
        try protectors.create(
            name, of: asker.caller.user, password: password, recoveryKey: recoveryKey)
        if let password {
            let keychain = try folder.keychain(name.description, of: asker.caller.user)
            let begun = vault.locks.now(keychain.place)
            let keys = try protectors.unlock(keychain, password)
            // A new keychain is open for the login that made it, where there is one.
            try? vault.keep(keys, of: keychain, for: asker.caller, since: begun)
        }
        audit?.record(.createKeychain, asker, Evidence(), nil)
        return Answer()
    }

    func unlock(
        _ name: String?, _ password: HeldSecret, for asker: any Asker
    ) throws(Refusal) -> Answer {
        try checkLength(password)
        let keychain = try keychain(name, for: asker.caller)
        guard try isProtected(keychain) else { throw withoutPassword(keychain) }
        let begun = vault.locks.now(keychain.place)
        let keys = try attempt(keychain.place) { () throws(Refusal) in
            try unlock(keychain, ownPassword: password)
        }
        try vault.keep(keys, of: keychain, for: asker.caller, since: begun)
        audit?.record(.unlock, asker, Evidence(), nil)
        return Answer()
    }

    func lock(_ name: String?, for asker: any Asker) throws(Refusal) -> Answer {
        let keychain = try keychain(name, for: asker.caller)
        // What opens by itself can't be kept locked.
        let isProtected = try isProtected(keychain)
        guard isProtected || (isDaemon && !keychain.isSystem) else { throw .passcodeNotSet }
        try vault.lock(keychain)
        authentication.forget(asker.caller.user)
        audit?.record(.lock, asker, Evidence(), nil)
        return Answer()
    }

    func setPassword(
        _ name: String?, _ old: HeldSecret?, _ new: HeldSecret, for asker: any Asker
    ) throws(Refusal) -> Answer {
        try checkLength(old)
        try checkLength(new)
        guard new.bytes.count > 0 else { throw .badRequest }
        let keychain = try keychain(name, for: asker.caller)
        // Services could not open it any more.
        guard !keychain.isSystem else { throw .notImplemented }
        // Nor does the device's key open such a one.
        guard try isProtected(keychain) || !isDaemon else { throw withoutPassword(keychain) }
        let begun = vault.locks.now(keychain.place)
        let keys = try attempt(keychain.place) { () throws(Refusal) in
            try protectors.setPassword(keychain, old: old, new: new)
            vault.endRenewal(of: keychain)
            return try protectors.unlock(keychain, new)
        }
        try? vault.keep(keys, of: keychain, for: asker.caller, since: begun)
        authentication.forget(asker.caller.user)
        audit?.record(.setPassword, asker, Evidence(), nil)
        return Answer()
    }

    /// Elsewhere than in embedded mode it had one, and something else opens it.
    private func withoutPassword(_ keychain: OpenKeychain) -> Refusal {
        isDaemon && !keychain.isSystem ? .noSuchProtector : .passcodeNotSet
    }

    func isProtected(_ keychain: OpenKeychain) throws(Refusal) -> Bool {
        do { return try keychain.file.isPasswordProtected() } catch { throw Refusal(error) }
    }

    /// Whether a person can prove that the keychain is theirs: who has its password; of the
    /// machine's, root.
    func hasProvableOwner(
        _ keychain: OpenKeychain, for caller: Caller
    ) throws(Refusal) -> Bool {
        if keychain.isSystem { return caller.user == 0 }
        return try isProtected(keychain)
    }

    func checkLength(_ password: HeldSecret?) throws(Refusal) {
        guard password?.bytes.count ?? 0 <= Request.longestPassword else { throw .dataTooLarge }
    }

    /// One guess at a time, and slower after each wrong one. What opens without knowledge of
    /// anything, such as a TPM, `shows` nothing and forgives no guess: else a user who guesses
    /// would have it open in between.
    func attempt<R: ~Copyable>(
        _ keychain: KeychainPlace, shows outcome: Guesses.Outcome = .right,
        _ body: () throws(Refusal) -> R
    ) throws(Refusal) -> R {
        try guesses.begin(keychain)
        do throws(Refusal) {
            let result = try body()
            guesses.end(keychain, outcome)
            return result
        } catch {
            guesses.end(keychain, Guesses.Outcome(error))
            throw error
        }
    }
}
