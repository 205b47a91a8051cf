// SPDX-License-Identifier: Apache-2.0
internal import KeychainDatabase
internal import KeychainModel
internal import Synchronization

/// One keychain: its keybag and its sealed items, in one SQLite file that several threads and
/// processes may use at once.
///
/// Its other verbs: `open`, `create`, `unlock`, `setPassword`, `find`, `forEach`, `add`, `update`
/// and `delete`, each in a file of its own.
package final class KeychainFile: Sendable {
    package let path: String
    package let opening: Opening
    let owner: KeychainOwner
    /// 16 random bytes that everything sealed in this file is bound to.
    package let identifier: [UInt8]
    private let database: Database
    let groupNames: GroupNames
    let groupCounts: GroupCounts
    /// nil where memory is not counted, as in a program's own process.
    let memory: (any RecordMemory)?
    private let corruptRows: CorruptRows
    let deletion: Deletion
    /// The user whose requests are served here, where several users share the file.
    private let client: UInt32?

    /// Tells one opening of a file from another, also of a file in the same place, and keeps none open.
    package final class Opening: Sendable {}

    /// The same open file for the requests of one of several users, so that no user takes all of
    /// its connections from the others.
    package func serving(_ user: UInt32) -> KeychainFile { KeychainFile(self, user) }

    private init(_ file: KeychainFile, _ client: UInt32) {
        path = file.path
        opening = file.opening
        owner = file.owner
        identifier = file.identifier
        database = file.database
        groupNames = file.groupNames
        groupCounts = file.groupCounts
        memory = file.memory
        corruptRows = file.corruptRows
        deletion = file.deletion
        self.client = client
    }

    /// Throws where the file belongs to another owner.
    init(
        _ path: String, _ owner: KeychainOwner, _ database: Database,
        _ memory: (any RecordMemory)?
    ) throws {
        let keybag = try database.read { try Keybag($0) }
        guard keybag.owner == owner else { throw KeychainStoreError.belongsToAnother }
        self.path = path
        opening = Opening()
        self.owner = owner
        self.database = database
        self.memory = memory
        identifier = keybag.identifier
        groupNames = GroupNames()
        groupCounts = GroupCounts()
        corruptRows = CorruptRows()
        deletion = Deletion()
        client = nil
    }

    /// Whether the file is that account's. A user's number may belong to another account by now.
    package func belongs(to user: UInt32, called account: String) -> Bool {
        owner.user == user && owner.account.hasSameBytes(as: account)
    }

    package func itemCount() throws(KeychainStoreError) -> Int {
        try reading { try $0.count("item") }
    }

    /// Items found since the file was opened that could not be opened although their key was
    /// available.
    package var corruptItemCount: Int { corruptRows.count }

    func noteCorrupt(_ row: Int64) { corruptRows.note(row) }

    func forgetCorrupt(_ row: Int64) { corruptRows.forget(row) }

    /// Reads in one snapshot of the file.
    func reading<R>(_ body: (Connection) throws -> R) throws(KeychainStoreError) -> R {
        do { return try database.read(for: client, body) } catch {
            throw KeychainStoreError(error)
        }
    }

    /// Reads with a body that runs one statement, which is a snapshot by itself.
    func readingOnce<R>(_ body: (Connection) throws -> R) throws(KeychainStoreError) -> R {
        do { return try database.readOnce(for: client, body) } catch {
            throw KeychainStoreError(error)
        }
    }

    /// Writes in one immediate transaction: all of it is on the disk on return, or nothing.
    func writing<R>(_ body: (Connection) throws -> R) throws(KeychainStoreError) -> R {
        do {
            return try database.write { database in
                // Another keychain may have been restored into this file since it was opened. Items
                // sealed for the old one would not open in it. A file without a name keeps nothing.
                guard try Keybag.identifier(database) == identifier, !deletion.isBegun else {
                    throw KeychainStoreError.busy
                }
                return try body(database)
            }
        } catch { throw KeychainStoreError(error) }
    }

    /// Runs the body on the only connection that writes, outside any transaction.
    func withWriter<R>(_ body: (Connection) throws -> R) throws(KeychainStoreError) -> R {
        do { return try database.withWriter(body) } catch { throw KeychainStoreError(error) }
    }

    /// Writes the log back into the file and empties it, so that deleted items are gone from both.
    /// Skipped while a reader is in the way.
    func flush() {
        try? database.withWriter { $0.emptyLog() }
    }
}

/// Rows that did not open although their key was available, as met by all users of the open file.
private final class CorruptRows: Sendable {
    private static let mostKept = 10_000
    private let rows = Mutex<Set<Int64>>([])

    var count: Int { rows.withLock { $0.count } }

    func note(_ row: Int64) {
        rows.withLock { rows in
            if rows.count < Self.mostKept { rows.insert(row) }
        }
    }

    func forget(_ row: Int64) { rows.withLock { _ = $0.remove(row) } }
}

/// Whether the file has lost its name or is about to, as all users of the open file see it.
final class Deletion: Sendable {
    private let state = Mutex(false)

    var isBegun: Bool {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
