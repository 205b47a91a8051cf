// SPDX-License-Identifier: Apache-2.0
internal import CKeychainSQLite
internal import Dispatch
internal import KeychainSecrets

/// A database in WAL mode that many threads read, each in a snapshot of its own, while one writes.
/// It closes its connections when it ends. No thread waits for others longer than the timeout.
package final class Database: Sendable {
    private let path: String
    private let timeout: BusyTimeout
    private let configure: @Sendable (Connection) throws -> Void
    private let readers = ReaderPool()
    private let writer: SharedWriter

    private static let pageBytes = 4096

    /// For a program with many threads, before it opens its first database: SQLite then keeps no
    /// count of its memory, in the whole process.
    package static func countNoMemory() { kc_count_no_memory() }

    /// Opens an existing file. `configure` is run on each new connection. For a program that writes
    /// often, the log keeps `logBytes` on the disk, and is written back when it is about that long.
    package init(
        _ path: String, _ timeout: BusyTimeout, logBytes: Int = 0,
        configure: @escaping @Sendable (Connection) throws -> Void
    ) throws {
        self.path = path
        self.timeout = timeout
        self.configure = configure
        let writer = try Connection(path, .syncing, timeout)
        try configure(writer)
        // An acknowledged write is on the disk.
        try writer.execute("PRAGMA synchronous = FULL")
        if logBytes > 0 {
            let pages = logBytes * 15 / 16 / Self.pageBytes
            try writer.execute("PRAGMA wal_autocheckpoint = \(pages)")
        }
        self.writer = SharedWriter(writer, timeout, logBytes: logBytes)
    }

    /// Runs `body` in one snapshot of the file. `user` is the requesting user, where several users
    /// share the file.
    package func read<R>(
        for user: UInt32? = nil, _ body: (Connection) throws -> R
    ) throws -> R {
        try withReader(for: user) { connection in try connection.snapshot { try body(connection) } }
    }

    /// Runs a body of one statement, which is a snapshot by itself.
    package func readOnce<R>(
        for user: UInt32? = nil, _ body: (Connection) throws -> R
    ) throws -> R {
        try withReader(for: user, body)
    }

    private func withReader<R>(
        for user: UInt32?, _ body: (Connection) throws -> R
    ) throws -> R {
        let reader = try readers.take(for: user, within: timeout)
        defer { readers.giveBack(reader, of: user) }
        if let connection = reader.connection { return try body(connection) }
        let connection = try connect()
        reader.connection = connection
        return try body(connection)
    }

    private func connect() throws -> Connection {
        let connection = try Connection(path, .reading, timeout)
        try configure(connection)
        return connection
    }

    /// The number of threads that wait to write.
    var waitingWriters: Int { writer.waitingCount }

    /// Runs `body` in an immediate transaction, perhaps on another thread: everything it writes is
    /// on the disk on return, or nothing.
    package func write<R>(_ body: (Connection) throws -> R) throws -> R {
        try writer.write(body)
    }

    /// Runs `body` on the one connection that writes, outside any transaction.
    package func withWriter<R>(_ body: (Connection) throws -> R) throws -> R {
        try writer.alone(body)
    }
}

/// The connections that read: each is used by one thread at a time, and a wait for one has a
/// deadline.
///
/// Where several users share a file, no user ever holds all connections: a user's long reads delay
/// that user's other requests, and leave a connection for other users. A free connection goes to
/// the user who holds the fewest, so that many requests of one user don't delay one of another.
final class ReaderPool: Sendable {
    /// The number of connections. Far fewer threads find a core to run on, but a thread that loses
    /// its core keeps its connection: with one connection per core, all others would queue behind
    /// it, each woken by the one before it.
    static let most = 16
    /// The most connections of one user, where several users share the file.
    static let mostOfOneUser = 12

    final class Reader: @unchecked Sendable {
        // Safe to send: only the thread that has taken the reader touches it.
        var connection: Connection?
    }

    // Safe to send: `reader` is touched under the pool's lock only.
    private final class Waiting: @unchecked Sendable {
        let user: UInt32?
        let turn = DispatchSemaphore(value: 0)
        var reader: Reader?

        init(_ user: UInt32?) { self.user = user }
    }

    private struct State {
        /// The last one was used most recently.
        var free = (0..<ReaderPool.most).map { _ in Reader() }
        /// The user of each reader in use.
        var users: [UInt32?] = []
        var waiting: [Waiting] = []

        func mayTake(_ user: UInt32?) -> Bool {
            !free.isEmpty && (user == nil || held(by: user) < ReaderPool.mostOfOneUser)
        }

        func held(by user: UInt32?) -> Int { users.count { $0 == user } }

        mutating func take(for user: UInt32?) -> Reader? {
            users.append(user)
            return free.popLast()
        }

        mutating func giveBack(_ reader: Reader, of user: UInt32?) {
            if let position = users.firstIndex(of: user) { users.remove(at: position) }
            free.append(reader)
        }

        /// The waiting thread that takes the free reader, if one may.
        mutating func next() -> Waiting? {
            let able = waiting.indices.filter { mayTake(waiting[$0].user) }
            let fewest = able.min { held(by: waiting[$0].user) < held(by: waiting[$1].user) }
            return fewest.map { waiting.remove(at: $0) }
        }
    }
    private let state = ShortLock(State())

    /// The number of waiting threads.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Takes a reader for a user's request; nil stands for the only user of the file. Throws “busy”
    /// where none is free within the timeout.
    func take(for user: UInt32?, within timeout: BusyTimeout) throws(DatabaseError) -> Reader {
        let (taken, place) = state.withLock { state -> (Reader?, Waiting?) in
            // All waiting threads are of users with the most readers allowed, or no reader is free.
            if state.mayTake(user) { return (state.take(for: user), nil) }
            let place = Waiting(user)
            state.waiting.append(place)
            return (nil, place)
        }
        if let taken { return taken }
        guard let place else { throw .busy }
        _ = place.turn.wait(timeout: timeout.end)
        // A reader that was given at the last moment is this thread's all the same.
        let given = state.withLock { state -> Reader? in
            if place.reader == nil { state.waiting.removeAll { $0 === place } }
            return place.reader
        }
        guard let given else { throw .busy }
        return given
    }

    func giveBack(_ reader: Reader, of user: UInt32?) {
        let next = state.withLock { state -> Waiting? in
            state.giveBack(reader, of: user)
            guard !state.waiting.isEmpty, let next = state.next() else { return nil }
            next.reader = state.take(for: next.user)
            return next
        }
        next?.turn.signal()
    }
}
