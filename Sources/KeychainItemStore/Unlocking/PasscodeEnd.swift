// SPDX-License-Identifier: Apache-2.0
package import KeychainAccessControl
internal import KeychainDatabase
internal import KeychainModel

/// The end of the passcode-set class. Its items are deleted with its key, in one transaction.
/// Copies of them in older files need the device secret, which the caller destroys after this
/// returns.
extension KeychainFile {
    /// Removes the password, or both where there are two. `rest` are the protectors that the caller
    /// found to open the keychain still; they must not be empty nor have changed meanwhile.
    package func removePassword(
        _ grant: borrowing ProtectorGrant, leaving rest: [ProtectorRecord]
    ) throws(KeychainStoreError) {
        guard grant.operation == .remove, grant.keychain == identifier else {
            throw .grantMismatch
        }
        let present = try protectors()
        guard present.contains(where: { $0.kind == .password }) else { throw .notProtected }
        // The device key's protector of a provisional keychain exists only for the password's sake.
        let others = present.filter { $0.kind != .password && $0.state != .provisional }
        guard rest.contains(where: others.contains) else { throw .lastProtector }
        try endPasscodeClass(present, leaving: others)
    }

    /// Ends the passcode-set class; all protectors still open the keychain.
    package func endPasscodeClass() throws(KeychainStoreError) {
        let present = try protectors()
        try endPasscodeClass(present, leaving: present.map(\.withoutPasscode))
    }

    private func endPasscodeClass(
        _ before: [ProtectorRecord], leaving after: [ProtectorRecord]
    ) throws(KeychainStoreError) {
        try writing { database in
            try Keybag.replace(before, with: after, database)
            var last: Int64? = .min
            while let row = last { last = try Self.deletePasscodeItems(after: row, database) }
        }
        flush()
    }

    /// Rows of one step: a restored file may have millions.
    private static let deletedAtOnce = 1000

    /// Deletes the next items of the class after that row, with their former secrets. Returns the
    /// last one's row; nil where there was none.
    private static func deletePasscodeItems(
        after last: Int64, _ database: Connection
    ) throws -> Int64? {
        // Safe: widens a raw value of one byte.
        let ended = Int64(Accessibility.whenPasscodeSetThisDeviceOnly.rawValue)
        let rows = try database.all(
            """
            SELECT id FROM item WHERE id > ? AND accessible = ? ORDER BY id LIMIT \(deletedAtOnce)
            """, .integer(last), .integer(ended)
        ) { $0.integer(0) }
        for row in rows {
            try FormerRow.remove(ofRow: row, database)
            try ItemRow.delete(row, database)
        }
        return rows.last
    }
}
