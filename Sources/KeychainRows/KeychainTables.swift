// SPDX-License-Identifier: Apache-2.0
package import KeychainDatabase

/// The form of a keychain's file in SQLite, for each version: its tables, and the values that any
/// version writes into them.
package enum KeychainTables {
    /// "KCHS" in the file's header.
    package static let applicationID: Int32 = 0x4B43_4853
    package static let version: Int32 = 4
    package static let pageBytes = 4096

    package static let names = ["keybag", "item", "token", "quarantine", "former"]

    private static let keybag = """
        CREATE TABLE keybag (
            name TEXT PRIMARY KEY NOT NULL,
            value BLOB NOT NULL
        ) STRICT, WITHOUT ROWID;
        """

    /// `tokens` are the item's entries in the index: a row that does not open can be removed from
    /// the index too, without a second index that each new item would write to.
    package static let item = """
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

    /// The entries of the index, and the items found under each.
    private static let token = """
        CREATE TABLE token (
            token INTEGER NOT NULL,
            item INTEGER NOT NULL,
            PRIMARY KEY (token, item)
        ) STRICT, WITHOUT ROWID;
        """

    /// Rows that could not be opened, unchanged. They are set aside so that no search fails on
    /// them, and kept since later keys or tools may read them.
    package static let quarantine = """
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

    /// Former secrets of items of the class `attributed`, each with the attributes of that time.
    /// `item` is the item's identifier. Later rows have greater numbers.
    package static let former = """
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

    private static let itemOfVersion2 = """
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
        """
    private static let indexesOfVersion2 = """
        CREATE INDEX itemByClass ON item (class, accessible);
        CREATE INDEX tokenByItem ON token (item);
        """

    /// The statements that make an empty file a keychain of that version; throws for a version that
    /// never existed.
    package static func statements(ofVersion version: Int32) throws -> String {
        let tables: [String]
        switch version {
        case 1: tables = [keybag, itemOfVersion2, token, indexesOfVersion2]
        case 2: tables = [keybag, itemOfVersion2, token, indexesOfVersion2, quarantine]
        case 3: tables = [keybag, item, token, quarantine]
        case 4: tables = [keybag, item, token, quarantine, former]
        default: throw ForeignFileError.damaged
        }
        let numbers =
            "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(version);"
        return (tables + [numbers]).joined(separator: "\n")
    }

    /// The version of a keychain, if it can be read; throws for any other file.
    package static func knownVersion(_ database: Connection) throws -> Int32 {
        let application = try database.first("PRAGMA application_id") { $0.integer(0) }
        // Safe: a constant of fewer bits.
        guard application == Int64(applicationID) else { throw ForeignFileError.damaged }
        let number = try database.first("PRAGMA user_version") { $0.integer(0) } ?? 0
        let found = Int32(clamping: number)
        guard found <= version else { throw ForeignFileError.newerVersion }
        _ = try tables(ofVersion: found)
        return found
    }

    // MARK: Limits

    /// The most bytes of an item's attributes together.
    package static let largestAttributes = 4 * 1024 * 1024
    /// The most tokens of an item: more than all its attributes with the longest list of programs
    /// give.
    package static let mostTokens = 2560
    /// More than any request can bring.
    private static let largestSealedSecret = 64 * 1024 * 1024
    /// The most bytes of a record, and of each of its values.
    package static let largestRecord = largestSealedSecret + 4 * largestAttributes

    /// The most bytes of a BLOB in the column.
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

    // MARK: Shapes

    /// A table of one version, with its columns in their order.
    package struct Table: Sendable {
        package let name: String
        package let columns: [Column]

        /// A query that reads all rows from the table itself, since an index of a foreign file may
        /// be wrong.
        var selection: String {
            "SELECT \(columns.map(\.name).joined(separator: ", ")) FROM \(name) NOT INDEXED"
        }

        package var insertion: String {
            let places = columns.map { _ in "?" }.joined(separator: ", ")
            return "INSERT INTO \(name) VALUES (\(places))"
        }
    }

    package struct Column: Sendable {
        enum Kind: String, Sendable {
            case integer = "INTEGER"
            case real = "REAL"
            case text = "TEXT"
            case blob = "BLOB"
        }

        let name: String
        let kind: Kind
        /// The most bytes of a text or a BLOB.
        var most: Int { kind == .text ? 64 : kind == .blob ? longest(name) : 0 }

        /// A condition that is true for a row with a value that no version writes. `typeof` and
        /// `length` of a BLOB read only the head of a record.
        var isForeign: String {
            switch kind {
            case .integer: "typeof(\(name)) NOT IN ('integer', 'null')"
            case .real: "typeof(\(name)) NOT IN ('real', 'integer', 'null')"
            case .text: "typeof(\(name)) <> 'text' OR length(\(name)) > \(most)"
            case .blob: "typeof(\(name)) NOT IN ('blob', 'null') OR length(\(name)) > \(most)"
            }
        }
    }

    private struct Shape: Sendable {
        let tables: [Table]
        let objects: Set<[String]>
    }

    private static let shapes: [Int32: Shape] = {
        var shapes: [Int32: Shape] = [:]
        for version in 1...version { shapes[version] = try? shape(ofVersion: version) }
        return shapes
    }()

    /// Computes the shapes that reading a file needs, while the process still may.
    package static func prepare() { _ = shapes }

    /// In the order of `names`.
    package static func tables(ofVersion version: Int32) throws -> [Table] {
        guard let shape = shapes[version] else { throw ForeignFileError.damaged }
        return shape.tables
    }

    private static func shape(ofVersion version: Int32) throws -> Shape {
        let reference = try Connection(":memory:", .making, BusyTimeout(seconds: 0))
        try reference.execute(statements(ofVersion: version))
        let found = try objects(reference)
        let tables = try names.compactMap { name -> Table? in
            let columns = try reference.all(
                "SELECT name, type FROM pragma_table_info(?)", .text(name)
            ) { row in
                row.text(1).flatMap(Column.Kind.init).map {
                    Column(name: row.text(0) ?? "", kind: $0)
                }
            }
            // A table does not exist in versions before the one that added it.
            return columns.isEmpty ? nil : Table(name: name, columns: columns)
        }
        return Shape(tables: tables, objects: found)
    }

    /// Whether the file has the tables and indexes of that version and nothing else.
    package static func isExact(_ database: Connection, version: Int32) throws -> Bool {
        try objects(database) == shapes[version]?.objects
    }

    /// Whether a file can't run code in the process that reads it, or fill its memory: it has no
    /// view and no trigger, which would be foreign programs, and no value of another type than its
    /// column's, or longer than any that is written here. It is checked before anything else is
    /// read.
    package static func isHarmless(_ database: Connection, version: Int32) throws -> Bool {
        guard try isExact(database, version: version) else { return false }
        return try tables(ofVersion: version).allSatisfy { table in
            let condition = table.columns.map(\.isForeign).joined(separator: " OR ")
            return try !database.exists("SELECT 1 FROM \(table.name) WHERE \(condition)")
        }
    }

    private static func objects(_ database: Connection) throws -> Set<[String]> {
        let rows = try database.all("SELECT type, name, tbl_name, sql FROM sqlite_schema LIMIT 100")
        {
            row in
            // SQLite opens files in which one of these is NULL; in a keychain none is.
            let words = row.text(3)?.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            return [
                row.text(0) ?? "NULL", row.text(1) ?? "NULL", row.text(2) ?? "NULL", words ?? "",
            ]
        }
        return Set(rows)
    }
}
