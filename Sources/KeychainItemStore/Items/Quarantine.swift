// SPDX-License-Identifier: Apache-2.0
internal import KeychainDatabase
internal import KeychainLinuxSystem

extension KeychainFile {
    /// Damaged items that were set aside within the file.
    package func quarantinedCount() throws(KeychainStoreError) -> Int {
        try reading(Quarantine.count)
    }
}

/// Where rows go that can't be opened: out of everybody's way, and not lost.
enum Quarantine {
    static func move(_ row: Int64, _ database: Connection) throws {
        try database.run(
            """
            INSERT INTO quarantine
            (moved, identifier, class, accessible, generation, keyIndex, attributes, secret)
            SELECT ?, identifier, class, accessible, generation, keyIndex, attributes, secret
            FROM item WHERE id = ?
            """, .real(WallClock.secondsSince2001), .integer(row))
        try ItemRow.delete(row, database)
    }

    static func count(_ database: Connection) throws -> Int {
        try database.count("quarantine")
    }
}
