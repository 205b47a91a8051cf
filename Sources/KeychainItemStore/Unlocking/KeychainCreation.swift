// SPDX-License-Identifier: Apache-2.0
internal import KeychainDatabase
internal import KeychainLinuxSystem
internal import KeychainRows
package import KeychainSecrets

extension KeychainFile {
    /// Makes a keychain with fresh keys; a file that exists at the path stays and is an error.
    ///
    /// Without a password the device key protects the master key; it does so too for a keychain
    /// with a password while it is `provisional`. `deviceSecret` is a part of the passcode-set
    /// class's key; the class exists only with a password.
    package static func create(
        at path: String, owner: KeychainOwner, deviceKey: borrowing SealingKey,
        password: HeldSecret?, deviceSecret: HeldSecret?, provisional: Bool = false,
        adding added: (protector: ProtectorRecord, key: HeldSecret)? = nil,
        cost: PasswordCostChoice = .calibrated
    ) throws(KeychainStoreError) {
        guard FileStatus(path) == nil else { throw .alreadyExists }
        let new = try NewKeybag(
            owner, deviceKey, password, deviceSecret, provisional, added, cost)
        let place = try StagingDirectory(for: path)
        do {
            try new.write(to: place.file)
            try place.publish()
        } catch {
            place.remove()
            throw KeychainStoreError(error)
        }
        place.remove()
    }
}

/// Fresh keys for a keychain, and the protectors that open them.
private struct NewKeybag {
    let entries: [(Keybag.Entry, [UInt8])]
    private(set) var protectors: [ProtectorRecord] = []

    /// The file is whole, and closed, when this returns.
    func write(to path: String) throws {
        let database = try KeychainSchema.connect(path, .making)
        try database.execute(
            """
            PRAGMA page_size = \(KeychainTables.pageBytes);
            PRAGMA journal_mode = WAL;
            PRAGMA synchronous = FULL;
            """)
        try database.transaction {
            try database.execute(KeychainTables.statements(ofVersion: KeychainTables.version))
            for (entry, value) in entries { try Keybag.write(entry, value, database) }
            for protector in protectors { try Keybag.write(protector, database) }
        }
        database.emptyLog()
    }

    init(
        _ owner: KeychainOwner, _ deviceKey: borrowing SealingKey, _ password: HeldSecret?,
        _ deviceSecret: HeldSecret?, _ provisional: Bool,
        _ added: (protector: ProtectorRecord, key: HeldSecret)?, _ cost: PasswordCostChoice
    ) throws(KeychainStoreError) {
        let identifier = RandomBytes.make(Keybag.identifierBytes)
        let wrap = KeyWrap(identifier: identifier, owner: owner)
        let master = SealingKey.random()
        let first = KeyBundle.random(.afterFirstUnlock).bytes.copy()
        let two = SecretBytes(random: 2 * SealingKey.byteCount)
        entries = [
            (.identifier, identifier),
            (.owner, owner.bytes),
            (.always, wrap.seal(KeyBundle.random(.always).bytes, for: .always, under: deviceKey)),
            (.afterFirstUnlock, wrap.seal(first, for: .afterFirstUnlock, under: master)),
            (.whileUnlocked, wrap.seal(two, for: .whileUnlocked, under: master)),
        ]
        let passcode = SealingKey.random()
        if let password {
            let keys = try PasswordKeys(password.bytes, cost, for: owner)
            protectors.append(
                keys.protector(
                    .current, master: master, passcode: passcode, deviceSecret, wrap))
        }
        if password == nil || provisional {
            var device = ProtectorRecord(.device, password == nil ? .current : .provisional)
            device.keep(master: master, under: deviceKey, wrap)
            // Otherwise items that a first login added to the passcode-set class would be lost with
            // its password.
            if password != nil { device.keep(passcode: passcode, under: deviceKey, wrap) }
            protectors.append(device)
        }
        if let added {
            var record = added.protector
            record.keep(master: master, under: SealingKey(added.key.bytes.copy()), wrap)
            protectors.append(record)
        }
    }
}
