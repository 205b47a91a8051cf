// SPDX-License-Identifier: Apache-2.0
internal import KeychainDatabase

/// What a keychain looks like to SQLite.
enum KeychainSchema {
    /// "KCHS" in the file's header.
    static let applicationID: Int32 = 0x4B43_4853
    static let version: Int32 = 2
    static let pageBytes = 4096

    static let tables = ["keybag", "item", "token", "quarantine"]

    /// Rows that could not be opened, as they were: set aside, so that no search fails on them, and
    /// kept, since another day's keys or tools may read them.
    private static let quarantine = """
        CREATE TABLE quarantine (
            id INTEGER PRIMARY KEY,
            moved REAL NOT NULL,
            identifier BLOB,
            class INTEGER,
            accessible INTEGER,
            generation INTEGER,
            keyIndex BLOB,
            attributes BLOB,
            secret BLOB
        ) STRICT;
        """

    /// What makes the next version of a file of that version.
    static let migrations: [Int32: String] = [1: quarantine]

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

        \(quarantine)

        PRAGMA application_id = \(applicationID);
        PRAGMA user_version = \(version);
        """

    /// A file that this version knows how to bring up to date.
    struct OlderVersion: Error {}

    /// Refuses what is not a keychain of this version, before anything is written to it.
    static func verify(_ database: Connection) throws {
        guard try knownVersion(database) == version else { throw OlderVersion() }
    }

    /// The version of a keychain that this version can read; anything else is refused.
    static func knownVersion(_ database: Connection) throws -> Int32 {
        let application = try database.first("PRAGMA application_id") { $0.integer(0) }
        guard application == Int64(applicationID) else { throw KeychainStoreError.damaged }
        let number = try database.first("PRAGMA user_version") { $0.integer(0) } ?? 0
        let found = Int32(clamping: number)
        guard found <= version else { throw KeychainStoreError.newerVersion }
        guard found == version || migrations[found] != nil else { throw KeychainStoreError.damaged }
        return found
    }

    /// Whether the file has these tables and indexes and nothing else.
    static func isExact(_ database: Connection) throws -> Bool {
        try objects(database) == ownObjects()
    }

    /// Whether nothing in a file from elsewhere works in our process or fills its memory:
    /// no view and no trigger, which would be a program of its author's, and no value longer than
    /// ours ever are. Asked before anything else is read from it.
    static func isHarmless(_ database: Connection) throws -> Bool {
        guard try objects(database).isSubset(of: ownObjects()) else { return false }
        // The first version had nowhere to set items aside.
        let ofItems = try ["item", "quarantine"].filter { table in
            try database.exists(
                "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", .text(table))
        }
        let tooLong =
            ["SELECT 1 FROM keybag WHERE length(value) > 65536"] + ofItems.map(holdsTooLong)
        return try tooLong.allSatisfy { try !database.exists($0) }
    }

    private static func holdsTooLong(_ table: String) -> String {
        """
        SELECT 1 FROM \(table) WHERE length(identifier) > 64
        OR length(keyIndex) > 64 OR length(attributes) > 2 * \(AttributeRecord.largest)
        OR length(secret) > \(largestSealedSecret)
        """
    }

    /// More than any request can bring.
    private static let largestSealedSecret = 64 * 1024 * 1024

    private static func ownObjects() throws -> Set<[String]> {
        let reference = try Connection(":memory:", .making, .amongEquals)
        try reference.execute(statements)
        return try objects(reference)
    }

    private static func objects(_ database: Connection) throws -> Set<[String]> {
        let rows = try database.all("SELECT type, name, tbl_name, sql FROM sqlite_schema LIMIT 100")
        {
            row in
            // NULL is what a file of another hand may hold, and never what one of ours does.
            let words = row.text(3)?.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            return [
                row.text(0) ?? "NULL", row.text(1) ?? "NULL", row.text(2) ?? "NULL", words ?? "",
            ]
        }
        return Set(rows)
    }
}

// MARK: Connections

extension KeychainSchema {
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

    /// A connection to a file that is being made, copied or looked at, of whichever version.
    static func connect(_ path: String, _ mode: Connection.Mode) throws -> Connection {
        let connection = try Connection(path, mode, .amongEquals)
        try connection.execute(connectionSetting)
        return connection
    }

    /// Connections to a file of this version that is in use.
    static func open(_ path: String, _ timeout: BusyTimeout) throws -> Database {
        try Database(path, timeout) { connection in
            try connection.execute(connectionSetting)
            try verify(connection)
        }
    }
}
