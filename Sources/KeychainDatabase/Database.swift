// SPDX-License-Identifier: Apache-2.0

/// A database in WAL mode that many threads read, each in a snapshot of its own, while one writes. Its
/// connections end with it. No thread waits for the others longer than the timeout.
package final class Database: Sendable {
    private let path: String
    private let timeout: BusyTimeout
    private let configure: @Sendable (Connection) throws -> Void
    private let readers = ReaderPool()
    private let writer: SharedWriter

    private static let pageBytes = 4096

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

    /// Runs `body` in an immediate transaction, perhaps on another thread that writes: all of it is on the disk when this returns, or none.
    package func write<R>(_ body: (Connection) throws -> R) throws -> R {
        try writer.write(body)
    }

    /// The one connection that writes, outside any transaction.
    package func withWriter<R>(_ body: (Connection) throws -> R) throws -> R {
        try writer.alone(body)
    }
}
