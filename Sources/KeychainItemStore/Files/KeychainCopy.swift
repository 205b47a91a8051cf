// SPDX-License-Identifier: Apache-2.0
internal import KeychainDatabase
internal import KeychainLinuxSystem
internal import KeychainRows

/// A copy of a keychain's file as it was at one moment, made while other connections go on reading
/// and writing. The copy is as sealed as the keychain itself, and has no device secret, which lies
/// elsewhere.
package enum KeychainCopy {
    /// Makes the copy, checks it, and syncs it to the disk. A file that exists at the target stays
    /// and is an error. With `isForUse` the copy becomes a keychain and gets a write-ahead log:
    /// without one, its readers and its writer would wait for each other.
    ///
    /// The copy's time is that of its beginning: what is changed meanwhile is not in it, and is
    /// never older than it.
    package static func make(
        of path: String, at target: String, isForUse: Bool = false
    ) throws(KeychainStoreError) {
        try FileCheck.check(path)
        let place = try StagingDirectory(for: target)
        defer { place.remove() }
        do {
            // The file system's own clock, which also dates the keychain's changes.
            let begun = try FileStatus(of: place.file).changed
            let source = try KeychainSchema.connect(path, .writing)
            try source.run("VACUUM INTO ?", .text(place.file))
            let original = try Keybag(source).identifier
            guard try verified(place.file) == original else { throw KeychainStoreError.busy }
            if isForUse {
                try KeychainSchema.connect(place.file, .writing)
                    .execute("PRAGMA journal_mode = WAL")
            }
            FileStatus.setChanged(begun, of: place.file)
            try place.sync()
        } catch { throw KeychainStoreError(error) }
        try place.publish()
    }

    /// The identifier of the keychain, once SQLite and the keybag have shown that the file is
    /// whole.
    static func verified(_ path: String) throws -> [UInt8] {
        try FileCheck.check(path)
        let database = try KeychainSchema.connect(path, .writing)
        return try database.snapshot {
            let version = try KeychainTables.knownVersion(database)
            guard try KeychainTables.isHarmless(database, version: version),
                try database.isIntact()
            else { throw KeychainStoreError.damaged }
            return try Keybag(database).identifier
        }
    }
}
