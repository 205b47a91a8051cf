// SPDX-License-Identifier: Apache-2.0
internal import GRDB

/// What a keychain looks like to SQLite.
enum KeychainSchema {
    /// "KCHS" in the file's header.
    static let applicationID: Int32 = 0x4B43_4853
    static let version: Int32 = 1
    static let pageBytes = 4096

    static let statements = """
        CREATE TABLE keybag (
            name TEXT PRIMARY KEY NOT NULL,
            value BLOB NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE item (
            id INTEGER PRIMARY KEY,
            identifier BLOB NOT NULL UNIQUE,
            class INTEGER NOT NULL,
            accessible INTEGER NOT NULL,
            generation INTEGER NOT NULL,
            keyIndex BLOB NOT NULL UNIQUE,
            attributes BLOB NOT NULL,
            secret BLOB
        ) STRICT;
        CREATE INDEX itemByClass ON item (class, accessible);

        CREATE TABLE token (
            token INTEGER NOT NULL,
            item INTEGER NOT NULL,
            PRIMARY KEY (token, item)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX tokenByItem ON token (item);

        PRAGMA application_id = \(applicationID);
        PRAGMA user_version = \(version);
        """

    /// Refuses what is not a keychain of this version, before anything is written to it.
    static func verify(_ database: Database) throws {
        let application = try Int32.fetchOne(database, sql: "PRAGMA application_id")
        guard application == applicationID else { throw KeychainStoreError.damaged }
        let found = try Int32.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        guard found <= version else { throw KeychainStoreError.newerVersion }
        guard found == version else { throw KeychainStoreError.damaged }
    }
}

extension Configuration {
    private static let busySeconds = 5.0

    /// Small caches: a service may hold many keychains open, and the system caches the file anyway.
    /// No keychain grows beyond 8 GiB of 4 KiB pages, whoever fills it.
    private static let connectionSetting = """
        PRAGMA cache_size = -512;
        PRAGMA mmap_size = 0;
        PRAGMA secure_delete = ON;
        PRAGMA temp_store = MEMORY;
        PRAGMA trusted_schema = OFF;
        PRAGMA cell_size_check = ON;
        PRAGMA journal_size_limit = 4194304;
        PRAGMA max_page_count = 2097152;
        """

    /// For a file that is being made.
    static func newKeychain() -> Configuration {
        var configuration = Configuration()
        configuration.busyMode = .timeout(busySeconds)
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase { try $0.execute(sql: connectionSetting) }
        return configuration
    }

    /// For a file that exists.
    static func keychain() -> Configuration {
        var configuration = newKeychain()
        configuration.maximumReaderCount = 4
        configuration.prepareDatabase(KeychainSchema.verify)
        return configuration
    }
}
