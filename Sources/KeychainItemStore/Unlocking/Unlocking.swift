// SPDX-License-Identifier: Apache-2.0
internal import KeychainDatabase
package import KeychainSecrets

extension KeychainFile {
    /// Whether a password protects the keychain: the meaning of "passcode set".
    package func isPasswordProtected() throws(KeychainStoreError) -> Bool {
        try reading { try Keybag.has(.password, $0) }
    }

    /// All protectors, the oldest first.
    package func protectors() throws(KeychainStoreError) -> [ProtectorRecord] {
        try keybag().protectors
    }

    /// The keys of the “always” classes, which need no unlock.
    package func alwaysKeys(
        deviceKey: borrowing SealingKey
    ) throws(KeychainStoreError) -> KeyBundle {
        let keybag = try keybag()
        guard let keys = wrap.open(try keybag.required(.always), for: .always, under: deviceKey)
        else { throw .wrongDeviceKey }
        return try KeyBundle(.always, keys)
    }

    /// Opens the keychain with its password. Costs Argon2id's time and memory, twice while a
    /// password change is not confirmed, each in a turn of the owner's.
    ///
    /// Without the device secret the passcode-set class stays closed.
    package func unlock(
        password: borrowing SecretBytes, deviceSecret: HeldSecret?,
        lightening: Lightening = .ofThisMachine
    ) throws(KeychainStoreError) -> UnlockedKeys {
        let keybag = try keybag()
        switch try PasswordAttempt(keybag, wrap, password, deviceSecret) {
        case .opened(let opened, let keys):
            let unlocked = try opened.unlockedKeys(keybag, wrap)
            lighten(keys, opened, password, deviceSecret, lightening)
            return unlocked
        case .differs: throw .wrongPassword
        }
    }

    /// Opens a keychain without a password.
    package func unlock(
        deviceKey: borrowing SealingKey
    ) throws(KeychainStoreError) -> UnlockedKeys {
        let keybag = try keybag()
        guard keybag.protectors(.password).isEmpty else { throw .notProtected }
        return try OpenedKeybag(keybag, wrap, deviceKey: deviceKey).unlockedKeys(keybag, wrap)
    }

    var wrap: KeyWrap { KeyWrap(identifier: identifier, owner: owner) }

    func keybag() throws(KeychainStoreError) -> Keybag { try reading { try Keybag($0) } }

    /// Replaces protectors in one transaction, on the disk on return; then removed ones are gone
    /// from the log too.
    func replace(
        _ before: [ProtectorRecord], with after: [ProtectorRecord]
    ) throws(KeychainStoreError) {
        try writing { try Keybag.replace(before, with: after, $0) }
        flush()
    }
}
