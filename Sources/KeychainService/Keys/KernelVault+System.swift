// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainStore

/// The machine's keychain: no login opens it, and no lock of a user's closes it.
extension KernelVault {
    func systemKeys(_ keychain: OpenKeychain) throws(Refusal) -> ClassKeys {
        let always = try alwaysKeys(keychain)
        if let first = bundle(
            .afterFirstUnlock, firstUnlockName(keychain), keychain, vaultKey),
            let open = bundle(.whileUnlocked, systemName(keychain), keychain, vaultKey)
        {
            return ClassKeys(always: always, afterFirstUnlock: first, whileUnlocked: open)
        }
        let unlocked = try systemOpening.open(keychain)
        try keepSystem(unlocked, keychain)
        return ClassKeys(
            always: always, afterFirstUnlock: unlocked.afterFirstUnlock.copy(),
            whileUnlocked: unlocked.whileUnlocked.copy())
    }

    func keepSystem(
        _ unlocked: borrowing UnlockedKeys, _ keychain: OpenKeychain
    ) throws(Refusal) {
        let first = firstUnlockName(keychain)
        try keyring.write(
            first, sealed(unlocked.afterFirstUnlock, first, keychain, vaultKey),
            of: keychain.user)
        let open = systemName(keychain)
        try keyring.write(
            open, sealed(unlocked.whileUnlocked, open, keychain, vaultKey), of: keychain.user)
    }

    func systemName(_ keychain: OpenKeychain) -> String { "machine:\(keychain.name)" }
}
