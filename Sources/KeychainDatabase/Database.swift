// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import Synchronization

/// A database in WAL mode that many threads read, each in a snapshot of its own, while one writes. Its
/// connections end with it.
package final class Database: Sendable {
    /// As many read at once; more would find no core to run on.
    private static let mostReaders = 4

    private final class Reader: @unchecked Sendable {
        let isTaken = Atomic<Bool>(false)
        // Safe to send: only the thread that has taken the reader touches it.
        var connection: Connection?
    }

    private let path: String
    private let timeout: BusyTimeout
    private let configure: @Sendable (Connection) throws -> Void
    private let readers: [Reader]
    private let free: DispatchSemaphore
    private let writer: SharedWriter

    /// Opens a file that exists. `configure` is run on each new connection.
    package init(
        _ path: String, _ timeout: BusyTimeout,
        configure: @escaping @Sendable (Connection) throws -> Void
    ) throws {
        self.path = path
        self.timeout = timeout
        self.configure = configure
        let writer = try Connection(path, .writing, timeout)
        try configure(writer)
        // An acknowledged write is on the disk.
        try writer.execute("PRAGMA synchronous = FULL")
        self.writer = SharedWriter(writer)
        readers = (0..<Self.mostReaders).map { _ in Reader() }
        free = DispatchSemaphore(value: Self.mostReaders)
    }

    /// Runs `body` in one snapshot of the file.
    package func read<R>(_ body: (Connection) throws -> R) throws -> R {
        free.wait()
        defer { free.signal() }
        let reader = takeReader()
        defer { reader.isTaken.store(false, ordering: .releasing) }
        let connection = try reader.connection ?? connect()
        reader.connection = connection
        return try connection.snapshot { try body(connection) }
    }

    private func connect() throws -> Connection {
        let connection = try Connection(path, .reading, timeout)
        try configure(connection)
        return connection
    }

    /// The semaphore has promised that one is free. The first ones are the warmest.
    private func takeReader() -> Reader {
        while true {
            for reader in readers
            where reader.isTaken.compareExchange(
                expected: false, desired: true, ordering: .acquiring
            ).exchanged {
                return reader
            }
        }
    }

    /// Runs `body` in an immediate transaction: all of it is on the disk when this returns, or none.
    package func write<R>(_ body: (Connection) throws -> R) throws -> R {
        try writer.write(body)
    }

    /// The one connection that writes, outside any transaction.
    package func withWriter<R>(_ body: (Connection) throws -> R) throws -> R {
        try writer.alone(body)
    }
}
