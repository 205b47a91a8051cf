// SPDX-License-Identifier: Apache-2.0
package import KeychainSecrets

extension KeychainFile {
    /// Replaces the password, or gives the first password to a keychain that the device key opened
    /// until now.
    ///
    /// The keys stay, and their wraps are replaced in one transaction: before it the old password
    /// opens the keychain, after it the new one, and never neither. Costs two derivations.
    package func setPassword(
        old: consuming SecretBytes?, new: consuming SecretBytes, deviceKey: borrowing SealingKey,
        deviceSecret: HeldSecret, cost: PasswordCostChoice = .calibrated
    ) throws(KeychainStoreError) {
        let keybag = try keybag()
        let opened: OpenedKeybag
        if let old {
            opened = try OpenedKeybag(keybag, wrap, password: old, deviceSecret)
        } else {
            // The device key alone must not lock the owner of a password out.
            guard keybag.protectors(.password).isEmpty else { throw .wrongPassword }
            opened = try OpenedKeybag(keybag, wrap, deviceKey: deviceKey)
        }
        let keys = try PasswordKeys(new, cost, for: owner)
        let record = keys.protector(
            .current, master: opened.master, passcode: opened.passcodeOrNew(), deviceSecret, wrap)
        let others = keybag.protectors.filter { $0.kind != .password && $0.kind != .device }
        try replace(keybag.protectors, with: others + [record])
    }

    /// The first half of a password change: the new password opens the keychain beside the old one,
    /// on the disk on return. The other half is `login`, which proves one of the two.
    ///
    /// Throws `.wrongPassword` where the old password does not open the keychain. An earlier change
    /// that was never proved ends: only the password that opened stays beside the new one. Costs
    /// two derivations.
    package func changePassword(
        old: borrowing SecretBytes, new: borrowing SecretBytes, deviceSecret: HeldSecret,
        cost: PasswordCostChoice = .calibrated
    ) throws(KeychainStoreError) {
        let keybag = try keybag()
        let attempt = try PasswordAttempt(keybag, wrap, old, deviceSecret)
        guard case .opened(let opened, let oldKeys) = consume attempt else {
            throw .wrongPassword
        }
        try add(
            PasswordKeys(new, cost, for: owner), .pending, beside: oldKeys, opened, keybag,
            deviceSecret)
    }

    /// Opens the keychain with its own password where a login's password had not opened it, and
    /// adds the login's password, as after `changePassword`.
    package func unlock(
        password: borrowing SecretBytes, goingOnWith new: borrowing PasswordKeys,
        deviceSecret: HeldSecret
    ) throws(KeychainStoreError) -> UnlockedKeys {
        let keybag = try keybag()
        let attempt = try PasswordAttempt(keybag, wrap, password, deviceSecret)
        guard case .opened(let opened, let oldKeys) = consume attempt else {
            throw .wrongPassword
        }
        let unlocked = try opened.unlockedKeys(keybag, wrap)
        try add(new, .adopted, beside: oldKeys, opened, keybag, deviceSecret)
        return unlocked
    }

    /// Opens the keychain with another protector, for a user who has lost its password, and adds
    /// the login's password. The passcode-set class, which only the lost password opens, stays
    /// until a login with the new password ends both.
    package func unlock(
        with protector: ProtectorRecord, key: borrowing SealingKey,
        goingOnWith new: borrowing PasswordKeys
    ) throws(KeychainStoreError) -> UnlockedKeys {
        let keybag = try keybag()
        let opened = try OpenedKeybag(wrap, protector, key)
        let unlocked = try opened.unlockedKeys(keybag, wrap)
        let second = new.protector(
            .adopted, master: opened.master, passcode: opened.passcodeOrNew(), nil, wrap)
        let others = keybag.protectors.filter { $0.state != .adopted }
        try replace(keybag.protectors, with: others + [second])
        return unlocked
    }

    private func add(
        _ new: borrowing PasswordKeys, _ state: ProtectorRecord.State,
        beside old: borrowing PasswordKeys, _ opened: borrowing OpenedKeybag, _ keybag: Keybag,
        _ deviceSecret: HeldSecret
    ) throws(KeychainStoreError) {
        let passcode = opened.passcodeOrNew()
        var kept = opened.opener
        if kept.state != .current {
            kept = old.protector(
                .current, master: opened.master, passcode: passcode, deviceSecret, wrap)
        }
        let second = new.protector(
            state, master: opened.master, passcode: passcode, deviceSecret, wrap)
        let others = keybag.protectors.filter { $0.kind != .password }
        try replace(keybag.protectors, with: others + [kept, second])
    }
}
