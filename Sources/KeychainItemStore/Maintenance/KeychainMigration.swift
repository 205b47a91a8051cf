// SPDX-License-Identifier: Apache-2.0
internal import KeychainDatabase
internal import KeychainRows

/// Migrates a file of an older version to this one: all steps in one transaction, after a copy of
/// the old file was kept.
enum KeychainMigration {
    /// Does nothing to a file of this version. Another program may migrate the file at the same
    /// time.
    static func run(
        _ path: String, _ owner: KeychainOwner, keepsOld: Bool = true
    ) throws {
        let database = try KeychainSchema.connect(path, .writing)
        try database.execute("PRAGMA synchronous = FULL")
        let generations = KeychainGenerations(of: path)
        try generations.transaction(on: database) { keep in
            guard try Keybag(database).owner == owner else {
                throw KeychainStoreError.belongsToAnother
            }
            let version = try KeychainTables.knownVersion(database)
            guard version < KeychainTables.version else { return }
            // No other connection writes now, so the copy holds the very state that is migrated.
            if keepsOld { _ = try keep() }
            try migrate(database, from: version)
        }
        if keepsOld { generations.prune() }
    }

    private static func migrate(_ database: Connection, from version: Int32) throws {
        guard try !Keybag(database).protectors.isEmpty else { throw KeychainStoreError.damaged }
        for version in version..<KeychainTables.version {
            try KeychainSchema.migrate(from: version, database)
        }
        try database.execute("PRAGMA user_version = \(KeychainTables.version)")
    }
}
