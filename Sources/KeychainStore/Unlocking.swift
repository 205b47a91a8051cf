// SPDX-License-Identifier: Apache-2.0
internal import GRDB
public import Secrets

extension KeychainFile {
    /// Whether a password protects it: what "passcode set" means.
    public func isPasswordProtected() throws(KeychainStoreError) -> Bool {
        try reading { try Keybag.has(.passwordProtector, $0) }
    }

    /// Whether the device's own key opens it.
    public func hasDeviceProtector() throws(KeychainStoreError) -> Bool {
        try reading { try Keybag.has(.deviceProtector, $0) }
    }

    /// The keys that need no unlock.
    public func alwaysKeys(
        deviceKey: borrowing SealingKey
    ) throws(KeychainStoreError) -> KeyBundle {
        let keybag = try keybag()
        guard let keys = wrap.open(try keybag.required(.always), for: .always, under: deviceKey)
        else { throw .wrongDeviceKey }
        return try KeyBundle(.always, keys)
    }

    /// Costs Argon2id's time and memory: callers do one at a time.
    ///
    /// Without the device secret the passcode-set class stays closed.
    public func unlock(
        password: borrowing SecretBytes, deviceSecret: HeldSecret?,
        deviceKey: borrowing SealingKey
    ) throws(KeychainStoreError) -> UnlockedKeys {
        let keybag = try keybag()
        let opened = try OpenedKeybag(keybag, wrap, password: password)
        return try opened.unlockedKeys(keybag, wrap, deviceSecret)
    }

    /// For keychains without a password, or that are still provisional.
    public func unlock(
        deviceKey: borrowing SealingKey
    ) throws(KeychainStoreError) -> UnlockedKeys {
        let keybag = try keybag()
        let opened = try OpenedKeybag(keybag, wrap, deviceKey: deviceKey)
        return try opened.unlockedKeys(keybag, wrap, nil)
    }

    var wrap: KeyWrap { KeyWrap(identifier: identifier, owner: owner) }

    func keybag() throws(KeychainStoreError) -> Keybag { try reading { try Keybag($0) } }
}

/// A master key, and what of the password the passcode-set class needs.
struct OpenedKeybag: ~Copyable {
    let master: SealingKey
    private let passwordKeys: PasswordKeys?

    init(
        _ keybag: Keybag, _ wrap: KeyWrap, password: borrowing SecretBytes
    ) throws(KeychainStoreError) {
        guard let bytes = keybag[.passwordProtector] else { throw .notProtected }
        let protector = try PasswordProtector(bytes)
        let keys = try PasswordKeys(password, protector.parameters)
        master = try protector.master(keys, wrap)
        passwordKeys = .some(consume keys)
    }

    init(
        _ keybag: Keybag, _ wrap: KeyWrap, deviceKey: borrowing SealingKey
    ) throws(KeychainStoreError) {
        guard let sealed = keybag[.deviceProtector] else { throw .notProtected }
        guard let key = wrap.open(sealed, for: .deviceProtector, under: deviceKey) else {
            throw .wrongDeviceKey
        }
        guard key.count == SealingKey.byteCount else { throw .damaged }
        master = SealingKey(key)
        passwordKeys = nil
    }

    borrowing func unlockedKeys(
        _ keybag: Keybag, _ wrap: KeyWrap, _ deviceSecret: HeldSecret?
    ) throws(KeychainStoreError) -> UnlockedKeys {
        guard
            let first = wrap.open(
                try keybag.required(.afterFirstUnlock), for: .afterFirstUnlock, under: master),
            let two = wrap.open(
                try keybag.required(.whileUnlocked), for: .whileUnlocked, under: master),
            two.count == 2 * SealingKey.byteCount
        else { throw .damaged }
        let passcode = passcodeKey(keybag, wrap, deviceSecret)
        return UnlockedKeys(
            whileUnlocked: .whileUnlocked(two, passcodeKey: passcode),
            afterFirstUnlock: try KeyBundle(.afterFirstUnlock, first))
    }

    /// akpu; nil where it was never made, or where its device secret is gone and it with it.
    borrowing func passcodeKey(
        _ keybag: Keybag, _ wrap: KeyWrap, _ deviceSecret: HeldSecret?
    ) -> SealingKey? {
        guard let sealed = keybag[.passcode], let deviceSecret else { return nil }
        let opened: SecretBytes? =
            switch passwordKeys {
            case .some(let keys):
                wrap.open(
                    sealed, for: .passcode, under: keys.passcodeKey(with: deviceSecret.bytes))
            case .none: nil
            }
        guard let opened, opened.count == SealingKey.byteCount else { return nil }
        return SealingKey(opened)
    }
}
