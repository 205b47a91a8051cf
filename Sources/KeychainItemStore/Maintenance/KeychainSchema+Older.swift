// SPDX-License-Identifier: Apache-2.0
internal import KeychainDatabase
internal import KeychainModel
internal import KeychainRows

/// The migrations from each older version to the next.
extension KeychainSchema {
    /// Migrates a file of that version to the next, in the caller's transaction.
    static func migrate(from version: Int32, _ database: Connection) throws {
        switch version {
        case 1: try database.execute(KeychainTables.quarantine)
        case 2: try keepTokensInRows(database)
        case 3: try database.execute(KeychainTables.former)
        default: throw KeychainStoreError.damaged
        }
    }

    /// Stores the list of an item's entries in its row, and adds an entry for the row's class to
    /// the index: so neither needs an index of its own.
    private static func keepTokensInRows(_ database: Connection) throws {
        try database.execute("ALTER TABLE item RENAME TO itemOfVersion2; \(KeychainTables.item)")
        try database.forEach(
            "SELECT id, class, accessible FROM itemOfVersion2 ORDER BY id"
        ) { row in
            guard let number = row.integer(0) else { throw DatabaseError.wrongType }
            var tokens = Set(
                try database.all(
                    "SELECT token FROM token WHERE item = ? LIMIT \(KeychainTables.mostTokens - 1)",
                    .integer(number)
                ) { $0.integer(0) })
            if let entry = BlindIndex.entry(itemClass: row.integer(1), row.integer(2)) {
                tokens.insert(entry)
                try ItemRow.addTokens([entry], to: number, database)
            }
            try database.run(
                """
                INSERT INTO item SELECT id, identifier, class, accessible, generation, keyIndex,
                ?, attributes, secret FROM itemOfVersion2 WHERE id = ?
                """, .blob(TokenList.bytes(tokens)), .integer(number))
            return true
        }
        try database.execute("DROP TABLE itemOfVersion2; DROP INDEX tokenByItem;")
    }
}

extension BlindIndex {
    /// nil for invalid columns.
    fileprivate static func entry(itemClass: Int64?, _ accessible: Int64?) -> Int64? {
        guard
            let itemClass = itemClass.flatMap(UInt8.init(exactly:))
                .flatMap(ItemClass.init(rawValue:)),
            let accessible = accessible.flatMap(UInt8.init(exactly:))
                .flatMap(Accessibility.init(rawValue:))
        else { return nil }
        return entry(itemClass, accessible)
    }
}
