// SPDX-License-Identifier: Apache-2.0
internal import GRDB
internal import Synchronization

/// One keychain: its keybag and its sealed items, in one SQLite file that several threads and
/// processes may use at once.
///
/// Its other verbs: `create`, `unlock`, `setPassword`, `find`, `forEach`, `open`, `add`, `update`
/// and `delete`, each in a file of its own.
public final class KeychainFile: Sendable {
    public let path: String
    public let owner: KeychainOwner
    /// 16 random bytes that everything sealed in this file is bound to.
    public let identifier: [UInt8]
    private let pool: DatabasePool
    let groupNames = GroupNames()
    /// nil where memory is the calling program's own affair.
    let memory: (any RecordMemory)?
    private let corruptRows = Mutex<Set<Int64>>([])
    private static let mostCorruptRowsKept = 10_000

    /// Opens a file that exists; never makes, repairs or replaces one. One of an older version is
    /// brought up to date, and kept as it was beside it. `memory` counts the large records that are
    /// read of it.
    public static func open(
        at path: String, owner: KeychainOwner, patience: Patience = .amongEquals,
        memory: (any RecordMemory)? = nil
    ) throws(KeychainStoreError) -> KeychainFile {
        try KeychainFile(path, owner, patience, memory)
    }

    private init(
        _ path: String, _ owner: KeychainOwner, _ patience: Patience,
        _ memory: (any RecordMemory)?
    ) throws(KeychainStoreError) {
        self.memory = memory
        self.path = path
        self.owner = owner
        try FileCheck.check(path)
        do {
            pool = try Self.pool(path, owner, patience)
            // After the pool has set its own idea of it: an acknowledged write is on the disk.
            try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
            let keybag = try pool.read { try Keybag($0) }
            guard keybag.owner == owner else { throw KeychainStoreError.belongsToAnother }
            identifier = keybag.identifier
        } catch { throw KeychainStoreError(error) }
    }

    private static func pool(
        _ path: String, _ owner: KeychainOwner, _ patience: Patience
    ) throws -> DatabasePool {
        do {
            return try DatabasePool(path: path, configuration: .keychain(patience))
        } catch is KeychainSchema.OlderVersion {
            try KeychainMigration.run(path, owner)
            return try DatabasePool(path: path, configuration: .keychain(patience))
        }
    }

    public func itemCount() throws(KeychainStoreError) -> Int {
        try reading { try Int.fetchOne($0, sql: "SELECT count(*) FROM item") ?? 0 }
    }

    /// Damaged items that were set aside within the file.
    public func quarantinedCount() throws(KeychainStoreError) -> Int {
        try reading(Quarantine.count)
    }

    /// Items met since the file was opened that could not be opened although the key was there.
    public var corruptItemCount: Int { corruptRows.withLock { $0.count } }

    func noteCorrupt(_ row: Int64) {
        corruptRows.withLock { rows in
            if rows.count < Self.mostCorruptRowsKept { rows.insert(row) }
        }
    }

    func forgetCorrupt(_ row: Int64) { corruptRows.withLock { _ = $0.remove(row) } }

    /// One snapshot of the file.
    func reading<R>(_ body: (Database) throws -> R) throws(KeychainStoreError) -> R {
        do { return try pool.read(body) } catch { throw KeychainStoreError(error) }
    }

    /// One immediate transaction: all of it on the disk when this returns, or nothing.
    func writing<R>(_ body: (Database) throws -> R) throws(KeychainStoreError) -> R {
        do {
            return try pool.write { database in
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
    func withWriter<R>(_ body: (Database) throws -> R) throws(KeychainStoreError) -> R {
        do { return try pool.writeWithoutTransaction(body) } catch {
            throw KeychainStoreError(error)
        }
    }

    /// Ends its connections, so that all of it is in the one file. Nothing may be asked of it then.
    func close() throws(KeychainStoreError) {
        do { try pool.close() } catch { throw KeychainStoreError(error) }
    }

    /// Writes the log back into the file and empties it, so that what was deleted is gone from both.
    /// Left for later where a reader is in the way.
    func flush() {
        _ = try? pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
    }
}
