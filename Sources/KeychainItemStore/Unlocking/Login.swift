// SPDX-License-Identifier: Apache-2.0
package import KeychainSecrets

/// What a login's password does to a keychain.
package enum LoginOutcome: ~Copyable {
    case opened(UnlockedKeys, LoginEffect)
    /// The keychain has another password. What a repair goes on with, once that one is given.
    case differs(PasswordKeys)
}

/// What a login changed in the keybag.
package enum LoginEffect: Sendable, Equatable {
    case nothing
    /// It proved a new password, or that of a provisional keychain: no other opens it any more.
    case confirmed
    /// The keychain was provisional, and has this login's password now.
    case wrappedAnew
    /// The file could not be written. What opened the keychain still does; the next login tries
    /// again.
    case failed
}

extension KeychainFile {
    /// Opens the keychain for a login whose password PAM has verified, which proves that password:
    /// an older one ends with it, and so does the device's part in a provisional keychain.
    ///
    /// A keychain that is still provisional opens whatever the password is, and takes it for its
    /// own: so this is for logins that root's programs vouch for, and no others.
    package func login(
        password: borrowing SecretBytes, deviceSecret: HeldSecret?,
        deviceKey: borrowing SealingKey, lightening: Lightening = .ofThisMachine
    ) throws(KeychainStoreError) -> LoginOutcome {
        let keybag = try keybag()
        switch try PasswordAttempt(keybag, wrap, password, deviceSecret) {
        case .opened(let opened, let keys):
            let unlocked = try opened.unlockedKeys(keybag, wrap)
            let effect = confirm(opened, keys, keybag, deviceSecret)
            lighten(keys, opened, password, deviceSecret, lightening)
            return .opened(unlocked, effect)
        case .differs(let keys):
            guard keybag.isProvisional,
                let opened = try? OpenedKeybag(keybag, wrap, deviceKey: deviceKey)
            else { return .differs(keys) }
            let unlocked = try opened.unlockedKeys(keybag, wrap)
            return .opened(unlocked, takeOver(keys, opened, keybag, deviceSecret))
        }
    }

    /// Made at a first login, and not opened by a second one yet.
    package func isProvisional() throws(KeychainStoreError) -> Bool { try keybag().isProvisional }

    /// A login with the older of two passwords proves nothing against one that its owner changed it
    /// to: it may have begun before the change, or asked a server that had not heard of it.
    private func confirm(
        _ opened: borrowing OpenedKeybag, _ keys: borrowing PasswordKeys, _ keybag: Keybag,
        _ deviceSecret: HeldSecret?
    ) -> LoginEffect {
        var after = keybag.protectors.filter {
            $0.state != .provisional && $0.state != .adopted
        }
        if opened.opener.state != .current {
            after.removeAll { $0.kind == .password }
            after.append(current(keys, opened, deviceSecret))
        }
        guard after != keybag.protectors else { return .nothing }
        do { try replace(keybag.protectors, with: after) } catch { return .failed }
        return .confirmed
    }

    /// The new password is no more proven than the first was: the keychain stays provisional.
    private func takeOver(
        _ keys: borrowing PasswordKeys, _ opened: borrowing OpenedKeybag, _ keybag: Keybag,
        _ deviceSecret: HeldSecret?
    ) -> LoginEffect {
        let others = keybag.protectors.filter { $0.kind != .password }
        let after = others + [current(keys, opened, deviceSecret)]
        do { try replace(keybag.protectors, with: after) } catch { return .failed }
        return .wrappedAnew
    }

    private func current(
        _ keys: borrowing PasswordKeys, _ opened: borrowing OpenedKeybag,
        _ deviceSecret: HeldSecret?
    ) -> ProtectorRecord {
        keys.protector(
            .current, master: opened.master, passcode: opened.passcodeOrNew(), deviceSecret, wrap)
    }
}

extension Keybag {
    var isProvisional: Bool { protectors.contains { $0.state == .provisional } }
}
