// SPDX-License-Identifier: Apache-2.0
internal import KeychainDatabase
internal import KeychainRows

/// The settings and the version check of a keychain's file in SQLite.
enum KeychainSchema {
    /// The file has an older version, which this program can migrate.
    struct OlderVersion: Error {}

    /// Throws where the file is not a keychain of this version, before anything is written to it.
    private static func verify(_ database: Connection) throws {
        guard try KeychainTables.knownVersion(database) == KeychainTables.version else {
            throw OlderVersion()
        }
    }

    /// Small caches: a service may hold many keychains open, and the system caches the file anyway.
    /// No keychain grows beyond 8 GiB of 4 KiB pages, whatever is written into it.
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

    /// A connection to a file of any version that is being made, copied or inspected.
    static func connect(_ path: String, _ mode: Connection.Mode) throws -> Connection {
        let connection = try Connection(path, mode, .amongEquals)
        try configure(connection)
        return connection
    }

    /// The size of the log of a file that one program has to itself, in bytes.
    private static let logBytes = 2 * 1024 * 1024

    /// Opens connections to a file of this version. `isShared`: other processes use it too, each
    /// for a short time.
    static func open(_ path: String, isShared: Bool) throws -> Database {
        try Database(
            path, isShared ? .amongEquals : .ofOwner, logBytes: isShared ? 0 : logBytes
        ) { connection in
            try configure(connection)
            try verify(connection)
        }
    }

    private static func configure(_ connection: Connection) throws {
        connection.refuseValues(longerThan: KeychainTables.largestRecord)
        try connection.execute(connectionSetting)
    }
}
