// SPDX-License-Identifier: Apache-2.0
package import KeychainSecrets

/// The result of a login's password for a keychain.
package enum LoginOutcome: ~Copyable {
    case opened(UnlockedKeys, LoginEffect)
    /// The keychain has another password. The keys serve a resync once that password is given.
    case differs(PasswordKeys)
}

/// The change that a login made to the keybag.
package enum LoginEffect: Sendable, Equatable {
    case nothing
    /// The login proved a new password, or that of a provisional keychain: no other password opens
    /// it now.
    case confirmed
    /// The keychain was provisional, and now has this login's password.
    case wrappedAnew
    /// The file could not be written. The protectors are unchanged; the next login tries again.
    case failed
    /// The device secret could not be read. The protectors are unchanged; the next login tries
    /// again.
    case withoutDeviceSecret
}

extension KeychainFile {
    /// Opens the keychain for a login whose password PAM has verified, and so proves that password:
    /// an older password ends, and so does the device key's protector of a provisional keychain.
    ///
    /// A provisional keychain opens whatever the password is, and takes it as its own: so this is
    /// only for logins that root's programs vouch for.
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

    /// Opens the keychain for such a login while the device secret can't be read. No protector is
    /// changed: one that is made without the secret would end the passcode-set class.
    package func loginWithoutDeviceSecret(
        password: borrowing SecretBytes, deviceKey: borrowing SealingKey
    ) throws(KeychainStoreError) -> LoginOutcome {
        let keybag = try keybag()
        switch try PasswordAttempt(keybag, wrap, password, nil) {
        case .opened(let opened, _):
            return .opened(try opened.unlockedKeys(keybag, wrap), .withoutDeviceSecret)
        case .differs(let keys):
            guard keybag.isProvisional,
                let opened = try? OpenedKeybag(keybag, wrap, deviceKey: deviceKey)
            else { return .differs(keys) }
            return .opened(try opened.unlockedKeys(keybag, wrap), .withoutDeviceSecret)
        }
    }

    /// Whether the keychain was made at a first login, and no second login has opened it yet.
    package func isProvisional() throws(KeychainStoreError) -> Bool { try keybag().isProvisional }

    /// A login with the older of two passwords proves nothing against the newer one that its owner
    /// chose: the login may have begun before the change, or asked a server that did not know of
    /// it.
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

    /// The new password is no more proven than the first was, so the keychain stays provisional.
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
