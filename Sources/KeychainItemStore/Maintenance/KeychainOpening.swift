// SPDX-License-Identifier: Apache-2.0
internal import KeychainDatabase

extension KeychainFile {
    /// Opens an existing file; never makes, repairs or replaces one. A file of an older version is
    /// migrated, and a copy of the old state is kept beside it. `isShared`: other processes use it
    /// too. `memory` counts the large records that are read.
    package static func open(
        at path: String, owner: KeychainOwner, isShared: Bool = true,
        memory: (any RecordMemory)? = nil
    ) throws(KeychainStoreError) -> KeychainFile {
        try FileCheck.check(path)
        do {
            let database = try database(path, owner, isShared: isShared)
            return try KeychainFile(path, owner, database, memory)
        } catch { throw KeychainStoreError(error) }
    }

    private static func database(
        _ path: String, _ owner: KeychainOwner, isShared: Bool
    ) throws -> Database {
        do { return try KeychainSchema.open(path, isShared: isShared) } catch is KeychainSchema
            .OlderVersion
        {
            try KeychainMigration.run(path, owner)
            return try KeychainSchema.open(path, isShared: isShared)
        }
    }
}
