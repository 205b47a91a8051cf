// SPDX-License-Identifier: Apache-2.0
internal import KeychainSecrets

/// A master key, and akpu where the protector that opened the keybag opens that too.
struct OpenedKeybag: ~Copyable {
    let master: SealingKey
    let passcode: SealingKey?
    /// The protector that opened the keybag.
    let opener: ProtectorRecord

    init(
        master: consuming SealingKey, passcode: consuming SealingKey?, _ opener: ProtectorRecord
    ) {
        self.master = master
        self.passcode = passcode
        self.opener = opener
    }

    init(
        _ keybag: Keybag, _ wrap: KeyWrap, deviceKey: borrowing SealingKey
    ) throws(KeychainStoreError) {
        guard let record = keybag.protectors(.device).last else { throw .notProtected }
        guard let master = record.master(deviceKey, wrap) else { throw .wrongDeviceKey }
        self.init(master: master, passcode: record.passcode(deviceKey, wrap), record)
    }

    init(
        _ keybag: Keybag, _ wrap: KeyWrap, password: borrowing SecretBytes,
        _ deviceSecret: HeldSecret?
    ) throws(KeychainStoreError) {
        switch try PasswordAttempt(keybag, wrap, password, deviceSecret) {
        case .opened(let opened, _): self = opened
        case .differs: throw .wrongPassword
        }
    }

    borrowing func unlockedKeys(
        _ keybag: Keybag, _ wrap: KeyWrap
    ) throws(KeychainStoreError) -> UnlockedKeys {
        guard
            let first = wrap.open(
                try keybag.required(.afterFirstUnlock), for: .afterFirstUnlock, under: master),
            let two = wrap.open(
                try keybag.required(.whileUnlocked), for: .whileUnlocked, under: master),
            two.count == 2 * SealingKey.byteCount
        else { throw .damaged }
        return UnlockedKeys(
            whileUnlocked: .whileUnlocked(two, passcodeKey: passcodeCopy()),
            afterFirstUnlock: try KeyBundle(.afterFirstUnlock, first))
    }

    var hasPasscode: Bool {
        switch passcode {
        case .some: true
        case .none: false
        }
    }

    /// akpu for another protector; a new key where there is none, or none that can still be opened.
    borrowing func passcodeOrNew() -> SealingKey { passcodeCopy() ?? SealingKey.random() }

    private borrowing func passcodeCopy() -> SealingKey? {
        switch passcode {
        case .some(let key): SealingKey(key.bytes.copy())
        case .none: nil
        }
    }
}

/// The result of trying a password: the opened keybag, or only the password's keys.
enum PasswordAttempt: ~Copyable {
    case opened(OpenedKeybag, PasswordKeys)
    case differs(PasswordKeys)

    /// Tries the newest protector first, as it is the likelier one after a change. Each try costs a
    /// derivation. A protector that costs far more than another comes last: so a password that
    /// opens the cheap one never pays for the costly one, whatever order a foreign file has.
    init(
        _ keybag: Keybag, _ wrap: KeyWrap, _ password: borrowing SecretBytes,
        _ deviceSecret: HeldSecret?
    ) throws(KeychainStoreError) {
        var last: PasswordKeys?
        var attempts: [(record: ProtectorRecord, parameters: PasswordParameters)] = []
        for record in keybag.protectors(.password).reversed() {
            attempts.append((record, try PasswordKeys.parameters(record.parameters)))
        }
        let least = attempts.map(\.parameters.work).min() ?? 0
        let cheap = attempts.filter { $0.parameters.work / 2 <= least }
        let costly = attempts.filter { $0.parameters.work / 2 > least }
        for (record, parameters) in cheap + costly {
            let keys = try PasswordKeys(password, parameters, for: keybag.owner)
            if let master = record.master(keys.master, wrap) {
                let passcode = Self.passcode(record, keys, deviceSecret, wrap)
                self = .opened(OpenedKeybag(master: master, passcode: passcode, record), keys)
                return
            }
            last = .some(consume keys)
        }
        guard let last else { throw .notProtected }
        self = .differs(last)
    }

    /// Returns nil where akpu was never wrapped, or can't be opened as the device secret is gone.
    private static func passcode(
        _ record: ProtectorRecord, _ keys: borrowing PasswordKeys, _ deviceSecret: HeldSecret?,
        _ wrap: KeyWrap
    ) -> SealingKey? {
        guard let deviceSecret else { return nil }
        return record.passcode(keys.passcodeKey(with: deviceSecret.bytes), wrap)
    }
}
