// SPDX-License-Identifier: Apache-2.0
internal import GRDB

/// What a keychain looks like to SQLite.
enum KeychainSchema {
    /// "KCHS" in the file's header.
    static let applicationID: Int32 = 0x4B43_4853
    static let version: Int32 = 2
    static let pageBytes = 4096

    static let tables = ["keybag", "item", "token", "quarantine"]

    /// Rows that could not be opened, as they were: set aside, so that nobody trips over them, and
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
    static func verify(_ database: Database) throws {
        guard try knownVersion(database) == version else { throw OlderVersion() }
    }

    /// The version of a keychain that this version can read; anything else is refused.
    static func knownVersion(_ database: Database) throws -> Int32 {
        let application = try Int32.fetchOne(database, sql: "PRAGMA application_id")
        guard application == applicationID else { throw KeychainStoreError.damaged }
        let found = try Int32.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        guard found <= version else { throw KeychainStoreError.newerVersion }
        guard found == version || migrations[found] != nil else { throw KeychainStoreError.damaged }
        return found
    }

    /// Whether the file has these tables and indexes and nothing else.
    static func isExact(_ database: Database) throws -> Bool {
        try objects(database) == ownObjects()
    }

    /// Whether nothing in a file from elsewhere works in this process or fills its memory: no view
    /// and no trigger, which would be a foreign program, and no value of another type than its
    /// column's, or longer than any of ours. Asked before anything else is read from it.
    static func isHarmless(_ database: Database) throws -> Bool {
        let found = try objects(database)
        guard try found.isSubset(of: ownObjects()) else { return false }
        // An older version lacks a table.
        return try tables.filter { table in found.contains { $0.dropFirst().first == table } }
            .allSatisfy { try holdsOnlyOurValues($0, database) }
    }

    private static func holdsOnlyOurValues(_ table: String, _ database: Database) throws -> Bool {
        let columns = try database.columns(in: table)
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
        return try Bool.fetchOne(
            database, sql: "SELECT EXISTS (SELECT 1 FROM \(table) WHERE \(condition))") == false
    }

    /// Bytes of the BLOBs of a column.
    private static func longest(_ column: String) -> Int {
        switch column {
        case "value": 65_536
        case "attributes": 2 * AttributeRecord.largest
        case "secret": largestSealedSecret
        default: 64
        }
    }

    /// More than any request can bring.
    private static let largestSealedSecret = 64 * 1024 * 1024
    /// Bytes of a record, or of any value of it.
    static let largestRecord = largestSealedSecret + 4 * AttributeRecord.largest

    private static func ownObjects() throws -> Set<[String]> {
        let reference = try DatabaseQueue()
        try reference.write { try $0.execute(sql: statements) }
        return try reference.read(objects)
    }

    private static func objects(_ database: Database) throws -> Set<[String]> {
        let rows = try Row.fetchCursor(
            database, sql: "SELECT type, name, tbl_name, sql FROM sqlite_schema LIMIT 100")
        var objects: Set<[String]> = []
        while let row = try rows.next() {
            // SQLite opens files in which any of these is NULL.
            let texts = try (0..<4).map { try row.decode(String?.self, atIndex: $0) ?? "" }
            let words = texts[3].split(whereSeparator: \.isWhitespace).joined(separator: " ")
            objects.insert(texts.dropLast() + [words])
        }
        return objects
    }
}

extension Configuration {
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

    /// For a file that is being made, copied or looked at, of whichever version.
    static func newKeychain(_ patience: Patience = .amongEquals) -> Configuration {
        var configuration = Configuration()
        configuration.busyMode = patience.busyMode
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase {
            $0.refuseLongValues()
            try $0.execute(sql: connectionSetting)
        }
        return configuration
    }

    /// For a file that exists.
    static func keychain(_ patience: Patience) -> Configuration {
        var configuration = newKeychain(patience)
        configuration.maximumReaderCount = 4
        configuration.prepareDatabase(KeychainSchema.verify)
        return configuration
    }
}
