// SPDX-License-Identifier: Apache-2.0
internal import KeychainDatabase
internal import KeychainRows

/// A keychain's file as it was at one moment, in a file of its own, while others go on reading and
/// writing: as sealed as the keychain itself, and without the device secret, which lies elsewhere.
package enum KeychainCopy {
    /// Whole, looked through and on the disk when this returns; whatever is at the target already
    /// stays and is an error. `isForUse`: the copy is a keychain from then on, and has a log as each has;
    /// without one its readers and its writer would wait for each other.
    package static func make(
        of path: String, at target: String, isForUse: Bool = false
    ) throws(KeychainStoreError) {
        try FileCheck.check(path)
        let place = try StagingDirectory(for: target)
        defer { place.remove() }
        do {
            let source = try KeychainSchema.connect(path, .writing)
            try source.run("VACUUM INTO ?", .text(place.file))
            let original = try Keybag(source).identifier
            guard try verified(place.file) == original else { throw KeychainStoreError.busy }
            if isForUse {
                try KeychainSchema.connect(place.file, .writing)
                    .execute("PRAGMA journal_mode = WAL")
            }
            try place.sync()
        } catch { throw KeychainStoreError(error) }
        try place.publish()
    }

    /// Whose items are in it, where SQLite and the keybag say that it is a whole keychain.
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
