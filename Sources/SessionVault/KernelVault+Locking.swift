// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
internal import KeychainVaults
internal import KeyringStore
internal import LoginRegistry

/// Automatic locking: screen lock, sleep, logout, timeout.
extension KernelVault {
    /// The users with keys here, or with facts about logins.
    package func users() -> [UInt32] { keyring.users() }

    /// Closes the when-unlocked items of the user's keychains whose settings want it. An unlock
    /// that is under way meanwhile has no effect. Returns false where a key could not be removed.
    package func lockAll(
        of user: UInt32, because reason: LockReason, where isMeant: (KeychainSettings) -> Bool
    ) -> Bool {
        var kept: Set<String> = []
        locks.lockAll(of: user) {
            for name in names(.unlock, of: user) {
                if settings(of: name, user).map(isMeant) ?? true {
                    keyring.remove(name, of: user)
                } else {
                    kept.insert(name)
                }
            }
            if kept.isEmpty { uses.endAll(of: user) }
        }
        if kept.isEmpty {
            for session in sessions.live(user) { sessions.setLockReason(reason, of: session.id) }
        }
        return kept.isSuperset(of: names(.unlock, of: user))
    }

    private func settings(of name: String, _ user: UInt32) -> KeychainSettings? {
        terms(of: name, user)?.settings
    }

    private func terms(of name: String, _ user: UInt32) -> AutoLockTerms? {
        guard let kept = keyring.read(name, of: user) else { return nil }
        return AutoLockTerms(kept: kept)?.tightened(by: uses.bounds)
    }

    /// Removes the unlocks whose time is over from the kernel's keyring.
    package func lockOverdue() {
        for user in users() {
            for name in names(.unlock, of: user) {
                guard let keychain = keychain(ofUnlock: name, user),
                    isOverdue(name, keychain)
                else { continue }
                try? locks.lock(keychain) {
                    // The keychain may have been unlocked again by now.
                    if isOverdue(name, keychain) { keyring.remove(name, of: user) }
                }
            }
        }
    }

    private func isOverdue(_ unlock: String, _ keychain: KeychainID) -> Bool {
        terms(of: unlock, keychain.user).map { uses.rest(of: $0, keychain) == .zero } ?? false
    }

    private func keychain(ofUnlock key: String, _ user: UInt32) -> KeychainID? {
        KeyName.keychain(of: key) { protectors.keychains(of: user) }
            .map { KeychainID(user: user, name: $0) }
    }

    private static let classKeys: [KeyName.Kind] = [.unlock, .firstUnlock, .renewal, .machine]

    /// Removes every class key from the kernel's keyring, and those that the device key opens from
    /// this process; and what sealed them, tickets and the vault key. Returns false where a class key is
    /// left in the keyring.
    package func forgetAll() -> Bool {
        let users = users()
        // First: what another thread keeps from here on is under the next one.
        vaultKey.forget()
        sessions.records.removeOver()
        locks.forgetAll(of: users) { user in
            for kind in Self.classKeys {
                for name in names(kind, of: user) { keyring.remove(name, of: user) }
            }
            uses.endAll(of: user)
        }
        kept.forgetAll()
        for user in users {
            for session in sessions.live(user) {
                sessions.spendTicket(of: session)
                sessions.setLockReason(.slept, of: session.id)
            }
        }
        return users.allSatisfy { user in
            Self.classKeys.allSatisfy { names($0, of: user).isEmpty }
        }
    }

    func names(_ kind: KeyName.Kind, of user: UInt32) -> [String] {
        ((try? keyring.names(of: user)) ?? []).filter { $0.hasPrefix(kind.prefix) }
    }
}
