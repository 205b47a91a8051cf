// SPDX-License-Identifier: Apache-2.0
internal import KeychainDatabase
internal import Synchronization

/// One keychain: its keybag and its sealed items, in one SQLite file that several threads and
/// processes may use at once.
///
/// Its other verbs: `create`, `unlock`, `setPassword`, `find`, `forEach`, `open`, `add`, `update`
/// and `delete`, each in a file of its own.
package final class KeychainFile: Sendable {
    package let path: String
    package let owner: KeychainOwner
    /// 16 random bytes that everything sealed in this file is bound to.
    package let identifier: [UInt8]
    private let database: Database
    let groupNames = GroupNames()
    /// nil where memory is the calling program's own affair.
    let memory: (any RecordMemory)?
    private let corruptRows = Mutex<Set<Int64>>([])
    private static let mostCorruptRowsKept = 10_000

    /// Opens a file that exists; never makes, repairs or replaces one. One of an older version is
    /// brought up to date, and kept as it was beside it. `isShared`: other processes use it too.
    /// `memory` counts the large records that are read of it.
    package static func open(
        at path: String, owner: KeychainOwner, isShared: Bool = true,
        memory: (any RecordMemory)? = nil
    ) throws(KeychainStoreError) -> KeychainFile {
        try KeychainFile(path, owner, isShared ? .amongEquals : .ofOwner, memory)
    }

    private init(
        _ path: String, _ owner: KeychainOwner, _ timeout: BusyTimeout,
        _ memory: (any RecordMemory)?
    ) throws(KeychainStoreError) {
        self.memory = memory
        self.path = path
        self.owner = owner
        try FileCheck.check(path)
        do {
            database = try Self.database(path, owner, timeout)
            let keybag = try database.read { try Keybag($0) }
            guard keybag.owner == owner else { throw KeychainStoreError.belongsToAnother }
            identifier = keybag.identifier
        } catch { throw KeychainStoreError(error) }
    }

    private static func database(
        _ path: String, _ owner: KeychainOwner, _ timeout: BusyTimeout
    ) throws -> Database {
        do { return try KeychainSchema.open(path, timeout) } catch is KeychainSchema.OlderVersion {
            try KeychainMigration.run(path, owner)
            return try KeychainSchema.open(path, timeout)
        }
    }

    package func itemCount() throws(KeychainStoreError) -> Int {
        try reading { try $0.count("item") }
    }

    /// Damaged items that were set aside within the file.
    package func quarantinedCount() throws(KeychainStoreError) -> Int {
        try reading(Quarantine.count)
    }

    /// Items met since the file was opened that could not be opened although the key was there.
    package var corruptItemCount: Int { corruptRows.withLock { $0.count } }

    func noteCorrupt(_ row: Int64) {
        corruptRows.withLock { rows in
            if rows.count < Self.mostCorruptRowsKept { rows.insert(row) }
        }
    }

    func forgetCorrupt(_ row: Int64) { corruptRows.withLock { _ = $0.remove(row) } }

    /// One snapshot of the file.
    func reading<R>(_ body: (Connection) throws -> R) throws(KeychainStoreError) -> R {
        do { return try database.read(body) } catch { throw KeychainStoreError(error) }
    }

    /// One immediate transaction: all of it on the disk when this returns, or nothing.
    func writing<R>(_ body: (Connection) throws -> R) throws(KeychainStoreError) -> R {
        do {
            return try database.write { database in
                // Another keychain may have been restored into this file since it was opened. What
                // is sealed for the old one would not open in it.
                guard try Keybag.identifier(database) == identifier else {
                    throw KeychainStoreError.busy
                }
                return try body(database)
            }
        } catch { throw KeychainStoreError(error) }
    }

    /// The only connection that writes, outside any transaction.
    func withWriter<R>(_ body: (Connection) throws -> R) throws(KeychainStoreError) -> R {
        do { return try database.withWriter(body) } catch { throw KeychainStoreError(error) }
    }

    /// Writes the log back into the file and empties it, so that what was deleted is gone from both.
    /// Left for later where a reader is in the way.
    func flush() {
        try? database.withWriter { $0.emptyLog() }
    }
}
