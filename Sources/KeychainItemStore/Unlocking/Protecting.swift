// SPDX-License-Identifier: Apache-2.0
package import KeychainAccessControl
internal import KeychainDatabase
package import KeychainSecrets

/// How a change of protectors gets the keychain's master key.
package enum MasterKeySource: ~Copyable {
    /// With the device secret; without it the passcode-set class stays closed.
    case password(SecretBytes, HeldSecret?)
    /// With the key that the protector's kind found.
    case protector(ProtectorRecord, SealingKey)
}

extension KeychainFile {
    /// Opens the keychain with a protector other than a password. The passcode-set class stays
    /// closed: only password protectors wrap its key.
    package func unlock(
        with protector: ProtectorRecord, key: borrowing SealingKey
    ) throws(KeychainStoreError) -> UnlockedKeys {
        let keybag = try keybag()
        return try OpenedKeybag(wrap, protector, key).unlockedKeys(keybag, wrap)
    }

    /// Adds a protector. `key` wraps the master key, which `source` gives.
    ///
    /// Throws `.wrongPassword` or `.wrongProtectorKey` where the source does not open the keychain.
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

    /// Removes a protector. `rest` are the protectors that the caller found to open the keychain
    /// still; they must not be empty nor have changed meanwhile.
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

    /// Gives the keychain another password without the present one. The items of the passcode-set
    /// class, which only the present password opens, are lost.
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
    /// A protector to be added; its wrap is made when it is.
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
