// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import GRDB

/// Where rows go that can't be opened: out of everybody's way, and not lost.
enum Quarantine {
    static func move(_ row: Int64, _ database: Database) throws {
        let statement = try database.cachedStatement(
            sql: """
                INSERT INTO quarantine
                (moved, identifier, class, accessible, generation, keyIndex, attributes, secret)
                SELECT ?, identifier, class, accessible, generation, keyIndex, attributes, secret
                FROM item WHERE id = ?
                """)
        try statement.execute(arguments: [Date().timeIntervalSinceReferenceDate, row])
        try ItemRow.delete(row, database)
    }

    static func count(_ database: Database) throws -> Int {
        try Int.fetchOne(database, sql: "SELECT count(*) FROM quarantine") ?? 0
    }
}
