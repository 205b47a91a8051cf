// SPDX-License-Identifier: Apache-2.0
internal import KeychainDatabase

extension KeychainFile {
    /// Opens a file that exists; never makes, repairs or replaces one. One of an older version is
    /// brought up to date, and kept as it was beside it. `isShared`: other processes use it too.
    /// `memory` counts the large records that are read of it.
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
