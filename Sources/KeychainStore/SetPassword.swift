// SPDX-License-Identifier: Apache-2.0
internal import GRDB
public import Secrets

extension KeychainFile {
    /// Replaces the password, or protects a keychain that the device's key opened until now.
    ///
    /// The keys stay, their wraps are new, all in one transaction: before it the old password opens
    /// the keychain, after it the new one, and never neither. Costs two derivations.
    public func setPassword(
        old: consuming SecretBytes?, new: consuming SecretBytes, deviceKey: borrowing SealingKey,
        deviceSecret: HeldSecret, cost: PasswordCostChoice = .calibrated
    ) throws(KeychainStoreError) {
        let keybag = try keybag()
        let opened: OpenedKeybag
        if let old {
            opened = try OpenedKeybag(keybag, wrap, password: old)
        } else {
            // Who has the device's key only must not lock a password's owner out.
            guard keybag[.passwordProtector] == nil else { throw .wrongPassword }
            opened = try OpenedKeybag(keybag, wrap, deviceKey: deviceKey)
        }
        let passcode = opened.passcodeKey(keybag, wrap, deviceSecret) ?? SealingKey.random()
        let entries = try Self.passwordEntries(
            new, deviceSecret, opened.master, passcode, wrap, cost)
        try writing { database in
            let now = try Keybag(database)
            guard now[.passwordProtector] == keybag[.passwordProtector] else {
                // Another process changed it while this one derived keys.
                throw KeychainStoreError.busy
            }
            for (entry, value) in entries { try Keybag.write(entry, value, database) }
            try Keybag.remove(.deviceProtector, database)
        }
        flush()
    }
}
