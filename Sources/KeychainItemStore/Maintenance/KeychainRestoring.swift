// SPDX-License-Identifier: Apache-2.0
internal import KeychainDatabase
package import KeychainLinuxSystem
internal import KeychainModel
package import KeychainRows
package import KeychainSecrets

/// A restored keychain that is about to take the place of the present one: a file that this program
/// makes, with the values of the copy. The copy may come from anywhere, and no other part of it is
/// opened beside a keychain.
package struct ReturningKeychain: Sendable {
    /// The number of records that can't be used on this device or are damaged; they are set aside
    /// within the new file.
    package let setAside: Int
    private let path: String
    private let owner: KeychainOwner

    /// Makes the file at the path, which must not exist. Throws where the copy is not a whole
    /// keychain of this owner, of this version or an older one.
    package init(
        from copy: Descriptor, through reader: some ForeignReader, at path: String,
        owner: KeychainOwner, deviceKey: borrowing SealingKey
    ) throws(KeychainStoreError) {
        self.path = path
        self.owner = owner
        do {
            try Self.fill(path, from: copy, through: reader)
            try KeychainMigration.run(path, owner, keepsOld: false)
        } catch { throw KeychainStoreError(error) }
        let file = try KeychainFile.open(at: path, owner: owner)
        // Checked before the file takes any place: otherwise the next unlock would be the first to
        // fail.
        for password in try file.keybag().protectors(.password) {
            _ = try PasswordKeys.parameters(password.parameters)
        }
        setAside = try file.adopt(deviceKey) + file.setDamagedAside(deviceKey)
        // The log is emptied, as the next program to open the file expects a single file.
        file.flush()
    }

    /// Makes a file of the copy's version: an older one is migrated here, never in the copy.
    private static func fill(
        _ path: String, from copy: Descriptor, through reader: some ForeignReader
    ) throws {
        let database = try KeychainSchema.connect(path, .making)
        // A crash leaves a file that no program opens.
        try database.execute(
            "PRAGMA page_size = \(KeychainTables.pageBytes); PRAGMA synchronous = OFF")
        var formerSecrets = FormerSecretRoom()
        try database.transaction {
            try reader.read(copy) { record in
                switch record {
                case .version(let version):
                    try database.execute(try KeychainTables.statements(ofVersion: version))
                case .row(let table, let values):
                    try formerSecrets.take(table.name)
                    try database.insert(values, into: table)
                }
            }
        }
    }

    /// Puts the keychain where none is. A keychain that is made there at the same moment stays.
    package func publish(at target: String) throws(KeychainStoreError) {
        try KeychainCopy.make(of: path, at: target, isForUse: true)
    }

    /// Replaces a keychain that opens, in one transaction that other connections see whole or not
    /// at all. The replaced keychain is kept as a generation, with every acknowledged change in it.
    package func replace(
        _ file: KeychainFile
    ) throws(KeychainStoreError) -> KeychainGenerations.Generation {
        let generations = KeychainGenerations(of: file.path)
        let kept = try file.withWriter { database in
            try database.run("ATTACH ? AS incoming", .text(path))
            defer { try? database.run("DETACH incoming") }
            return try generations.transaction(on: database) { keep in
                // No other connection writes now, so the generation holds the very state that is
                // replaced.
                let kept = try keep()
                for table in KeychainTables.names {
                    try database.execute(
                        """
                        DELETE FROM main.\(table);
                        INSERT INTO main.\(table) SELECT * FROM incoming.\(table);
                        """)
                }
                return kept
            }
        }
        generations.prune()
        file.flush()
        return kept
    }
}

/// The former secrets that the items read so far can have. Items come before them; millions of rows
/// without an item would take hours of every later look for old ones.
private struct FormerSecretRoom {
    private var free = 0

    mutating func take(_ table: String) throws(KeychainStoreError) {
        switch table {
        case "item", "quarantine": free += FormerSecret.mostOfItem
        case "former":
            guard free > 0 else { throw .damaged }
            free -= 1
        default: break
        }
    }
}

extension Connection {
    fileprivate func insert(_ values: [Value], into table: KeychainTables.Table) throws {
        try forEach(table.insertion, values) { _ in true }
    }
}

extension KeychainFile {
    private static let mostMovedAtOnce = 1000

    /// On another device than the one that made the keychain, “always” items get new keys. Items
    /// under the old keys, or otherwise bound to the other device, do not open here and are set
    /// aside.
    fileprivate func adopt(
        _ deviceKey: borrowing SealingKey
    ) throws(KeychainStoreError) -> Int {
        let keybag = try keybag()
        let isFromHere =
            wrap.open(try keybag.required(.always), for: .always, under: deviceKey) != nil
        guard !isFromHere else { return 0 }
        // The device secret, which the passcode-set class needs, is not in the copy either.
        let portable = keybag.protectors.filter { $0.kind != .device }.map(\.withoutPasscode)
        guard !portable.isEmpty else { throw .wrongDeviceKey }
        let always = wrap.seal(KeyBundle.random(.always).bytes, for: .always, under: deviceKey)
        let bound = Accessibility.allCases.filter {
            $0.isThisDeviceOnly || IndexFamily($0) == .always
        }.map { String($0.rawValue) }
        return try writing { database in
            try Keybag.write(.always, always, database)
            try Keybag.replace(keybag.protectors, with: portable, database)
            var moved = 0
            while true {
                // Rows that were moved are not found again.
                let rows = try database.all(
                    """
                    SELECT id FROM item WHERE accessible IN (\(bound.joined(separator: ", ")))
                    LIMIT \(Self.mostMovedAtOnce)
                    """
                ) { $0.integer(0) }
                guard !rows.isEmpty else { return moved }
                for row in rows { try Quarantine.move(row, database) }
                moved += rows.count
            }
        }
    }

    fileprivate func setDamagedAside(
        _ deviceKey: borrowing SealingKey
    ) throws(KeychainStoreError) -> Int {
        let keys = ClassKeys(
            always: try alwaysKeys(deviceKey: deviceKey), afterFirstUnlock: nil, whileUnlocked: nil)
        return try check(repair: true, keys: keys).damaged
    }
}
