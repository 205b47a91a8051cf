// SPDX-License-Identifier: Apache-2.0
package import KeychainSecrets

extension KeychainFile {
    /// Replaces the password, or protects a keychain that the device's key opened until now.
    ///
    /// The keys stay, their wraps are new, all in one transaction: before it the old password opens
    /// the keychain, after it the new one, and never neither. Costs two derivations.
    package func setPassword(
        old: consuming SecretBytes?, new: consuming SecretBytes, deviceKey: borrowing SealingKey,
        deviceSecret: HeldSecret, cost: PasswordCostChoice = .calibrated
    ) throws(KeychainStoreError) {
        let keybag = try keybag()
        let opened: OpenedKeybag
        if let old {
            opened = try OpenedKeybag(keybag, wrap, password: old, deviceSecret)
        } else {
            // Who has the device's key only must not lock a password's owner out.
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
    /// on the disk when this returns. The other half is `login`, which proves one of them.
    ///
    /// `.wrongPassword` where the old one does not open it. An earlier change that was never proved
    /// is over: what stays beside the new password is the one that opened. Costs two derivations.
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

    /// Opens the keychain with its own password where a login's had not opened it, and goes on with
    /// that one, as after `changePassword`.
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

    /// The same for who has lost that password. What it alone opens, the passcode-set class, stays
    /// with it until a login with the new one ends both.
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
