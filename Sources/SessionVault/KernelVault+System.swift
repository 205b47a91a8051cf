// SPDX-License-Identifier: Apache-2.0
internal import KeyringStore
internal import KeychainVaults
internal import KeychainModel
internal import KeychainItemStore

/// The machine's keychain: no login opens it, and no user's lock closes it.
extension KernelVault {
    func systemKeys(_ keychain: OpenKeychain) throws(RequestError) -> ClassKeys {
        let keys = kept.keys(of: keychain)
        let always = try alwaysKeys(keychain, keys)
        if let vault = vaultKey.present,
            let first = bundle(.afterFirstUnlock, keys.firstUnlock, keychain, vault),
            let open = bundle(.whileUnlocked, keys.machine, keychain, vault)
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
    ) throws(RequestError) {
        let keys = kept.keys(of: keychain)
        let vaultKey = vaultKey.now
        makeRoomForFirstUnlock(keys.firstUnlock.name, of: keychain.user)
        try keyring.write(
            keys.firstUnlock.name,
            sealed(unlocked.afterFirstUnlock, keys.firstUnlock, vaultKey.key), of: keychain.user)
        try keyring.write(
            keys.machine.name, sealed(unlocked.whileUnlocked, keys.machine, vaultKey.key),
            of: keychain.user)
    }
}
