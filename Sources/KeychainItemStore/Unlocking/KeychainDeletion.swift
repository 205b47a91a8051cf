// SPDX-License-Identifier: Apache-2.0
internal import KeychainDatabase
internal import KeychainModel
internal import KeychainSecrets

extension KeychainFile {
    /// Takes the file away and keeps what is in it as a generation, with everything ever acknowledged.
    /// `removing` takes away the file and its log.
    ///
    /// Connections that are open go on with a file that has no name. SQLite looks whether the name
    /// still means their file before it removes a log with the last of them.
    package func delete(
        removing: () throws(KeychainStoreError) -> Void
    ) throws(KeychainStoreError) {
        try withWriter { database in
            try database.transaction {
                // No other connection writes now: what is kept is what is deleted.
                _ = try KeychainGenerations(of: path).keep()
                // Writers that wait for this transaction find another keychain's file, and are refused.
                try Keybag.write(.identifier, RandomBytes.make(Keybag.identifierBytes), database)
                try removing()
            }
        }
    }
}
