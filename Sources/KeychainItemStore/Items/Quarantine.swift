// SPDX-License-Identifier: Apache-2.0
internal import KeychainDatabase
internal import KeychainLinuxSystem

extension KeychainFile {
    /// The number of damaged items that were set aside within the file.
    package func quarantinedCount() throws(KeychainStoreError) -> Int {
        try reading(Quarantine.count)
    }
}

/// Sets rows aside that can't be opened: no search finds them, and they are not lost.
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
