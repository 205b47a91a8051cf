// SPDX-License-Identifier: Apache-2.0
internal import KeychainDatabase
internal import KeychainLinuxSystem
internal import KeychainModel
internal import KeychainSecrets

extension KeychainFile {
    /// Deletes the file and keeps its content as a generation, with every acknowledged change.
    /// `removing` removes the file and its log.
    ///
    /// Open connections go on with a file that has no name. SQLite checks that the name still means
    /// their file before it removes a log with the last of them.
    package func delete(
        removing: () throws(KeychainStoreError) -> Void
    ) throws(KeychainStoreError) {
        let (generations, file) = (KeychainGenerations(of: path), FileIdentity(path))
        try withWriter { database in
            try database.transaction {
                // No other connection writes now, so the generation holds the very state that is
                // deleted.
                let kept = try generations.keep()
                do {
                    // Writers that wait for this transaction find another keychain's identifier,
                    // and are refused.
                    try Keybag.write(
                        .identifier, RandomBytes.make(Keybag.identifierBytes), database)
                    // Writers of this process are refused even if the commit fails.
                    deletion.isBegun = true
                    try removing()
                } catch {
                    if FileIdentity(path) == file {
                        deletion.isBegun = false
                        generations.remove(kept)
                    }
                    throw error
                }
            }
        }
        generations.prune()
    }
}
