// SPDX-License-Identifier: Apache-2.0
internal import CKeychainSQLite
internal import Dispatch
internal import KeychainSecrets

/// A database in WAL mode that many threads read, each in a snapshot of its own, while one writes. Its
/// connections end with it. No thread waits for the others longer than the timeout.
package final class Database: Sendable {
    private let path: String
    private let timeout: BusyTimeout
    private let configure: @Sendable (Connection) throws -> Void
    private let readers = ReaderPool()
    private let writer: SharedWriter

    private static let pageBytes = 4096

    /// For a program with many threads, before it opens its first database: SQLite then counts no
    /// memory, for none of the process's other users of SQLite either.
    package static func countNoMemory() { kc_count_no_memory() }

    /// Opens a file that exists. `configure` is run on each new connection. A program that writes
    /// often has the log keep `logBytes` on the disk, and written back when it is about as long.
    package init(
        _ path: String, _ timeout: BusyTimeout, logBytes: Int = 0,
        configure: @escaping @Sendable (Connection) throws -> Void
    ) throws {
        self.path = path
        self.timeout = timeout
        self.configure = configure
        let writer = try Connection(path, .writing, timeout)
        try configure(writer)
        // An acknowledged write is on the disk.
        try writer.execute("PRAGMA synchronous = FULL")
        if logBytes > 0 {
            let pages = logBytes * 15 / 16 / Self.pageBytes
            try writer.execute("PRAGMA wal_autocheckpoint = \(pages)")
        }
        self.writer = SharedWriter(writer, timeout, logBytes: logBytes)
    }

    /// Runs `body` in one snapshot of the file. `user` is the one whose request it is, where several
    /// users share the file.
    package func read<R>(
        for user: UInt32? = nil, _ body: (Connection) throws -> R
    ) throws -> R {
        try withReader(for: user) { connection in try connection.snapshot { try body(connection) } }
    }

    /// The same for a body that runs one statement, which is of one moment by itself.
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

    /// How many threads wait to write.
    var waitingWriters: Int { writer.waitingCount }

    /// Runs `body` in an immediate transaction, perhaps on another thread that writes: all of it is on
    /// the disk when this returns, or none.
    package func write<R>(_ body: (Connection) throws -> R) throws -> R {
        try writer.write(body)
    }

    /// The one connection that writes, outside any transaction.
    package func withWriter<R>(_ body: (Connection) throws -> R) throws -> R {
        try writer.alone(body)
    }
}

/// The connections that read: one thread has each at a time, and a wait for one has a deadline.
///
/// Where several users share a file, one of them never holds all: a user's long reads keep that
/// user's other requests waiting, and leave a connection for the rest. A connection that comes free
/// goes to the user who holds the fewest, so that many requests of one user don't stand before one
/// of another.
final class ReaderPool: Sendable {
    /// As many read at once. Far fewer find a core to run on, but a thread that loses its core keeps its
    /// connection: with as many as there are cores all others would queue behind it, and each be woken
    /// by the one before it.
    static let most = 16
    /// Of one of several users.
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
        /// The last is the warmest.
        var free = (0..<ReaderPool.most).map { _ in Reader() }
        /// The user of each reader that is taken.
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

        /// Who takes the reader that is free, if one does who waits.
        mutating func next() -> Waiting? {
            let able = waiting.indices.filter { mayTake(waiting[$0].user) }
            let fewest = able.min { held(by: waiting[$0].user) < held(by: waiting[$1].user) }
            return fewest.map { waiting.remove(at: $0) }
        }
    }
    private let state = ShortLock(State())

    /// How many wait.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// A reader for a user's request; nil stands for the file's only one. Throws “busy” where none
    /// comes free for so long.
    func take(for user: UInt32?, within timeout: BusyTimeout) throws(DatabaseError) -> Reader {
        let (taken, place) = state.withLock { state -> (Reader?, Waiting?) in
            // All that wait are users who hold as many as they may, or there is no free one.
            if state.mayTake(user) { return (state.take(for: user), nil) }
            let place = Waiting(user)
            state.waiting.append(place)
            return (nil, place)
        }
        if let taken { return taken }
        guard let place else { throw .busy }
        _ = place.turn.wait(timeout: timeout.end)
        // Given at the last moment, it is this thread's all the same.
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
