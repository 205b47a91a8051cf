// SPDX-License-Identifier: Apache-2.0
package import KeychainAccessControl
internal import KeychainDatabase
package import KeychainSecrets

/// What gives a keychain's master key to a change of what opens it.
package enum MasterKeySource: ~Copyable {
    /// With the device secret, without which the passcode-set class stays closed.
    case password(SecretBytes, HeldSecret?)
    /// With the key that its kind finds for it.
    case protector(ProtectorRecord, SealingKey)
}

extension KeychainFile {
    /// Opens the keychain with a protector of a kind that was added. The passcode-set class stays
    /// closed: no key of it is under any protector but a password.
    package func unlock(
        with protector: ProtectorRecord, key: borrowing SealingKey
    ) throws(KeychainStoreError) -> UnlockedKeys {
        let keybag = try keybag()
        return try OpenedKeybag(wrap, protector, key).unlockedKeys(keybag, wrap)
    }

    /// Adds a way to open it. `key` wraps the master key, which `source` gives.
    ///
    /// `.wrongPassword` and `.wrongProtectorKey` where the source does not open the keychain.
    package func add(
        _ protector: consuming ProtectorRecord, key: borrowing SealingKey,
        _ grant: borrowing ProtectorGrant, from source: consuming MasterKeySource
    ) throws(KeychainStoreError) {
        guard grant.operation == .add, grant.keychain == identifier else { throw .grantMismatch }
        let keybag = try keybag()
        let opened = try OpenedKeybag(keybag, wrap, from: source)
        protector.keep(master: opened.master, under: key, wrap)
        try replace(keybag.protectors, with: keybag.protectors + [protector])
    }

    /// Takes a way to open it away. `rest`, what the caller found to open it still, must not have
    /// changed meanwhile and must not be empty.
    package func remove(
        _ protector: ProtectorRecord, _ grant: borrowing ProtectorGrant,
        leaving rest: [ProtectorRecord]
    ) throws(KeychainStoreError) {
        guard grant.operation == .remove, grant.keychain == identifier else {
            throw .grantMismatch
        }
        let present = try protectors()
        guard present.contains(protector) else { throw .notProtected }
        guard rest.contains(where: { present.contains($0) && $0 != protector }) else {
            throw .lastProtector
        }
        try replace(present, with: present.filter { $0 != protector })
    }

    /// Gives the keychain another password, for who opens it without the present one. What only
    /// that one opens, the items of the passcode-set class, is lost.
    package func setPassword(
        from source: consuming MasterKeySource, new: consuming SecretBytes,
        deviceSecret: HeldSecret, cost: PasswordCostChoice = .calibrated
    ) throws(KeychainStoreError) {
        let keybag = try keybag()
        let opened = try OpenedKeybag(keybag, wrap, from: source)
        let keys = try PasswordKeys(new, cost, for: owner)
        let record = keys.protector(
            .current, master: opened.master, passcode: opened.passcodeOrNew(), deviceSecret, wrap)
        let others = keybag.protectors.filter { $0.kind != .password && $0.kind != .device }
        try replace(keybag.protectors, with: others + [record])
    }
}

extension ProtectorRecord {
    /// One of a kind that is added; its wrap is made when it is.
    package static func new(
        _ kind: Kind, parameters: [UInt8] = []
    ) throws(KeychainStoreError) -> ProtectorRecord {
        guard parameters.count <= longestParameters else { throw .tooLarge }
        return ProtectorRecord(kind, parameters: parameters)
    }
}

extension OpenedKeybag {
    init(
        _ wrap: KeyWrap, _ protector: ProtectorRecord, _ key: borrowing SealingKey
    ) throws(KeychainStoreError) {
        guard let master = protector.master(key, wrap) else { throw .wrongProtectorKey }
        self.init(master: master, passcode: nil, protector)
    }

    init(
        _ keybag: Keybag, _ wrap: KeyWrap, from source: consuming MasterKeySource
    ) throws(KeychainStoreError) {
        switch consume source {
        case .password(let password, let deviceSecret):
            try self.init(keybag, wrap, password: password, deviceSecret)
        case .protector(let protector, let key): try self.init(wrap, protector, key)
        }
    }
}
