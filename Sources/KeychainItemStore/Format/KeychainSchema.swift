// SPDX-License-Identifier: Apache-2.0
internal import KeychainDatabase

/// What a keychain looks like to SQLite.
enum KeychainSchema {
    /// "KCHS" in the file's header.
    static let applicationID: Int32 = 0x4B43_4853
    static let version: Int32 = 4
    static let pageBytes = 4096

    static let tables = ["keybag", "item", "token", "quarantine", "former"]

    static let keybag = """
        CREATE TABLE keybag (
            name TEXT PRIMARY KEY NOT NULL,
            value BLOB NOT NULL
        ) STRICT, WITHOUT ROWID;
        """

    /// `tokens` are the item's entries in the index: a row that does not open can be taken out of it
    /// too, and no second index is needed for that, which each new item would write to.
    static let item = """
        CREATE TABLE item (
            id INTEGER PRIMARY KEY,
            identifier BLOB NOT NULL UNIQUE,
            class INTEGER NOT NULL,
            accessible INTEGER NOT NULL,
            generation INTEGER NOT NULL,
            keyIndex BLOB NOT NULL UNIQUE,
            tokens BLOB NOT NULL,
            attributes BLOB NOT NULL,
            secret BLOB
        ) STRICT;
        """

    /// Under which entries which items are found.
    static let token = """
        CREATE TABLE token (
            token INTEGER NOT NULL,
            item INTEGER NOT NULL,
            PRIMARY KEY (token, item)
        ) STRICT, WITHOUT ROWID;
        """

    /// Rows that could not be opened, as they were: set aside, so that no search fails on them, and
    /// kept, since another day's keys or tools may read them.
    static let quarantine = """
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

    /// Secrets that items of the class `attributed` had before, each with the attributes of then. `item`
    /// is the identifier of the item. Later rows have greater numbers.
    static let former = """
        CREATE TABLE former (
            id INTEGER PRIMARY KEY,
            item BLOB NOT NULL,
            accessible INTEGER NOT NULL,
            generation INTEGER NOT NULL,
            day INTEGER NOT NULL,
            note BLOB NOT NULL,
            attributes BLOB NOT NULL,
            secret BLOB NOT NULL,
            UNIQUE (item, generation)
        ) STRICT;
        """

    static let statements = """
        \(keybag)
        \(item)
        \(token)
        \(quarantine)
        \(former)
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
        // Safe: a constant of fewer bits.
        guard application == Int64(applicationID) else { throw KeychainStoreError.damaged }
        let number = try database.first("PRAGMA user_version") { $0.integer(0) } ?? 0
        let found = Int32(clamping: number)
        guard found <= version else { throw KeychainStoreError.newerVersion }
        guard statements(ofVersion: found) != nil else { throw KeychainStoreError.damaged }
        return found
    }

    /// Whether the file has these tables and indexes and nothing else.
    static func isExact(_ database: Connection) throws -> Bool {
        try objects(database) == objects(ofVersion: version)
    }

    /// Whether nothing in a file from elsewhere works in this process or fills its memory: no view
    /// and no trigger, which would be a foreign program, and no value of another type than its
    /// column's, or longer than any of ours. Asked before anything else is read from it.
    static func isHarmless(_ database: Connection) throws -> Bool {
        let found = try objects(database)
        let own = try objects(ofVersion: knownVersion(database))
        guard found.isSubset(of: own) else { return false }
        return try tables.filter { table in found.contains { $0.dropFirst().first == table } }
            .allSatisfy { try holdsOnlyOurValues($0, database) }
    }

    private static func holdsOnlyOurValues(_ table: String, _ database: Connection) throws -> Bool {
        let columns = try database.all(
            "SELECT name, type FROM pragma_table_info(?)", .text(table)
        ) { row in (name: row.text(0) ?? "", type: row.text(1) ?? "") }
        // `typeof` and `length` of a BLOB look at the head of a record and read nothing else.
        let foreign = columns.map { column in
            switch (column.name, column.type) {
            case (let name, "INTEGER"): "typeof(\(name)) NOT IN ('integer', 'null')"
            case (let name, "REAL"): "typeof(\(name)) NOT IN ('real', 'integer', 'null')"
            case (let name, "TEXT"): "typeof(\(name)) <> 'text' OR length(\(name)) > 64"
            case (let name, _):
                "typeof(\(name)) NOT IN ('blob', 'null') OR length(\(name)) > \(longest(name))"
            }
        }
        let condition = foreign.joined(separator: " OR ")
        return try !database.exists("SELECT 1 FROM \(table) WHERE \(condition)")
    }

    /// Bytes of the BLOBs of a column.
    private static func longest(_ column: String) -> Int {
        switch column {
        case "value": 65_536
        case "note": 8192
        case "attributes": 2 * largestAttributes
        case "secret": largestSealedSecret
        case "tokens": 8 * mostTokens
        default: 64
        }
    }

    /// Bytes of all attributes of an item together.
    static let largestAttributes = 4 * 1024 * 1024
    /// Of an item, more than the longest list of programs makes of all its attributes.
    static let mostTokens = 2560
    /// More than any request can bring.
    private static let largestSealedSecret = 64 * 1024 * 1024
    /// Bytes of a record, or of any value of it.
    static let largestRecord = largestSealedSecret + 4 * largestAttributes

    private static func objects(ofVersion version: Int32) throws -> Set<[String]> {
        let reference = try Connection(":memory:", .making, .amongEquals)
        try reference.execute(statements(ofVersion: version) ?? "")
        return try objects(reference)
    }

    private static func objects(_ database: Connection) throws -> Set<[String]> {
        let rows = try database.all("SELECT type, name, tbl_name, sql FROM sqlite_schema LIMIT 100")
        {
            row in
            // SQLite opens files in which any of these is NULL; no object of ours has one.
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
        try configure(connection)
        return connection
    }

    /// Of the log of a file that one program has to itself.
    private static let logBytes = 2 * 1024 * 1024

    /// Connections to a file of this version that is in use. `isShared`: other processes use it too,
    /// each for a while.
    static func open(_ path: String, isShared: Bool) throws -> Database {
        try Database(
            path, isShared ? .amongEquals : .ofOwner, logBytes: isShared ? 0 : logBytes
        ) { connection in
            try configure(connection)
            try verify(connection)
        }
    }

    private static func configure(_ connection: Connection) throws {
        connection.refuseValues(longerThan: largestRecord)
        try connection.execute(connectionSetting)
    }
}
