// SPDX-License-Identifier: Apache-2.0
package import KeychainAccessControl
internal import KeychainDatabase
internal import KeychainModel

/// The end of the passcode-set class. Its items go with its key, in one transaction: what is left of
/// them in older copies needs the device secret, which the caller destroys when this has returned.
extension KeychainFile {
    /// Takes the password away, whichever of two there are. `rest`, what the caller found to open the
    /// keychain still, must not have changed meanwhile and must not be empty.
    package func removePassword(
        _ grant: borrowing ProtectorGrant, leaving rest: [ProtectorRecord]
    ) throws(KeychainStoreError) {
        guard grant.operation == .remove, grant.keychain == identifier else {
            throw .grantMismatch
        }
        let present = try protectors()
        guard present.contains(where: { $0.kind == .password }) else { throw .notProtected }
        // This device's part in a first login's keychain is for that password's sake.
        let others = present.filter { $0.kind != .password && $0.state != .provisional }
        guard rest.contains(where: others.contains) else { throw .lastProtector }
        try endPasscodeClass(present, leaving: others)
    }

    /// What opens the keychain goes on doing so.
    package func endPasscodeClass() throws(KeychainStoreError) {
        let present = try protectors()
        try endPasscodeClass(present, leaving: present.map(\.withoutPasscode))
    }

    private func endPasscodeClass(
        _ before: [ProtectorRecord], leaving after: [ProtectorRecord]
    ) throws(KeychainStoreError) {
        try writing { database in
            try Keybag.replace(before, with: after, database)
            // Safe: a raw value of one byte.
            let ended = Int64(Accessibility.whenPasscodeSetThisDeviceOnly.rawValue)
            let rows = try database.all(
                "SELECT id FROM item WHERE accessible = ?", .integer(ended)
            ) { $0.integer(0) }
            for row in rows { try ItemRow.delete(row, database) }
        }
        flush()
    }
}
