// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Synchronization
import Testing

@testable import KeychainDatabase

/// What threads that write at once have of each other.
@Suite struct SharedWriterTests {
    private let path: String
    private let database: Database

    init() throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("writer-\(UInt64.random(in: .min ... .max))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.path + "/file"
        let made = try Connection(path, .making, BusyTimeout(seconds: 60))
        try made.execute(
            """
            PRAGMA journal_mode = WAL; CREATE TABLE t (n INTEGER UNIQUE);
            CREATE TABLE later (n REFERENCES t (n) DEFERRABLE INITIALLY DEFERRED);
            """)
        made.emptyLog()
        database = try Database(path, BusyTimeout(seconds: 60)) {
            try $0.execute("PRAGMA foreign_keys = ON")
        }
    }

    private func numbers() throws -> [Int64] {
        try database.read { try $0.all("SELECT n FROM t ORDER BY rowid") { $0.integer(0) } }
    }

    /// Frames of the log that end a transaction, and the thread that waits for each is one sync's.
    private func commits() throws -> Int {
        let log = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path + "-wal")))
        return stride(from: 32, to: log.count, by: 24 + 4096).count { frame in
            log[frame + 4..<frame + 8].contains { $0 != 0 }
        }
    }

    /// Has the works stand in line, one behind the other, while another thread writes; then they may.
    private func inLine(_ works: [@Sendable (Connection) throws -> Void]) throws -> [(any Error)?] {
        let errors = Mutex([(any Error)?](repeating: nil, count: works.count))
        let group = DispatchGroup()
        try database.withWriter { _ in
            for (place, work) in works.enumerated() {
                DispatchQueue.global().async(group: group) {
                    do { try database.write(work) } catch {
                        errors.withLock { $0[place] = error }
                    }
                }
                while database.waitingWriters <= place { usleep(1000) }
            }
        }
        group.wait()
        return errors.withLock { $0 }
    }

    private static func insert(_ number: Int64) -> @Sendable (Connection) throws -> Void {
        { try $0.run("INSERT INTO t VALUES (?)", .integer(number)) }
    }

    @Test func `writers that wait share one commit, in the order in which they came`() throws {
        try database.write(Self.insert(100))
        let before = try commits()
        let order = (0..<12).map { Int64($0 * 7 % 12) }
        let errors = try inLine(order.map(Self.insert))
        #expect(errors.allSatisfy { $0 == nil })
        #expect(try commits() == before + 1)
        #expect(try numbers() == [100] + order)
    }

    @Test func `one that fails takes nothing from those before and behind it`() throws {
        struct Refused: Error {}
        let errors = try inLine([
            Self.insert(1),
            { connection in
                try connection.run("INSERT INTO t VALUES (2)")
                throw Refused()
            },
            Self.insert(3),
            { connection in
                try connection.run("INSERT INTO t VALUES (4)")
                try connection.run("INSERT INTO t VALUES (1)")
            },
            Self.insert(5),
        ])
        #expect(errors.map { $0 == nil } == [true, false, true, false, true])
        #expect(errors[1] is Refused)
        #expect((errors[3] as? DatabaseError)?.kind == .damaged)
        #expect(try numbers() == [1, 3, 5])
        #expect(try commits() == 1)
    }

    @Test func `the first of a commit that fails leaves the commit to those behind it`() throws {
        struct Refused: Error {}
        let errors = try inLine([{ _ in throw Refused() }, Self.insert(1), Self.insert(2)])
        #expect(errors.map { $0 == nil } == [false, true, true])
        #expect(try numbers() == [1, 2])
    }

    @Test func `a disk that fails in the middle fails all that are in the commit, and no other`()
        throws
    {
        let errors = try inLine([
            Self.insert(1), Self.insert(2),
            // What a full disk does to a transaction.
            { connection in
                try connection.run("INSERT INTO t VALUES (3)")
                try connection.run("ROLLBACK")
                throw DatabaseError(code: 13)
            },
            Self.insert(4),
        ])
        let kinds = errors.map { ($0 as? DatabaseError)?.kind }
        #expect(kinds == [.full, .full, .full, nil])
        #expect(try numbers() == [4])
    }

    @Test func `a commit that fails fails every work in it, and keeps nothing of them`() throws {
        let errors = try inLine([
            Self.insert(1),
            // What is looked at when the transaction ends, and found wanting then.
            { try $0.run("INSERT INTO later VALUES (100)") },
            Self.insert(2),
        ])
        #expect(errors.map { ($0 as? DatabaseError)?.kind } == [.damaged, .damaged, .damaged])
        #expect(try numbers().isEmpty)
        try database.write(Self.insert(3))
        #expect(try numbers() == [3])
    }

    @Test func `what wants no transaction of others gets none, and keeps its place`() throws {
        let group = DispatchGroup()
        let order = Mutex<[Int64]>([])
        try database.withWriter { _ in
            for number in Int64(0)..<3 {
                DispatchQueue.global().async(group: group) {
                    if number == 1 {
                        try? database.withWriter { connection in
                            order.withLock { $0.append(number) }
                            #expect(!connection.isInTransaction)
                        }
                    } else {
                        try? database.write { connection in
                            order.withLock { $0.append(number) }
                            try Self.insert(number)(connection)
                        }
                    }
                }
                while database.waitingWriters <= number { usleep(1000) }
            }
        }
        group.wait()
        #expect(order.withLock { $0 } == [0, 1, 2])
        #expect(try numbers() == [0, 2])
        #expect(try commits() == 2)
    }

    // MARK: The log

    private var logBytes: Int {
        let facts = try? FileManager.default.attributesOfItem(atPath: path + "-wal")
        return (facts?[.size] as? NSNumber)?.intValue ?? 0
    }

    @Test func `a log that has its bytes from the first write on does not grow with the next`()
        throws
    {
        let wide = try Database(path, BusyTimeout(seconds: 60), logBytes: 1 << 20) { _ in }
        #expect(logBytes == 0)
        for number in 0..<20 { try wide.write(Self.insert(Int64(number))) }
        #expect(logBytes == 1 << 20)
        // Emptied by another, it has them again with the next write.
        let other = try Connection(path, .writing, BusyTimeout(seconds: 60))
        // A connection that has read nothing yet knows of no log.
        #expect(try other.count("t") == 20)
        other.emptyLog()
        #expect(logBytes == 0)
        try wide.write(Self.insert(20))
        #expect(logBytes == 1 << 20)
        #expect(try numbers().count == 21)
    }

    @Test func `zeros behind what is in the log are no part of the file after a crash`() throws {
        let wide = try Database(path, BusyTimeout(seconds: 60), logBytes: 1 << 20) { _ in }
        for number in 0..<5 { try wide.write(Self.insert(Int64(number))) }
        // As the disk has it: the log's index is in memory alone.
        let copy = path + "-copy"
        for ending in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: path + ending, toPath: copy + ending)
        }
        let found = try Database(copy, BusyTimeout(seconds: 60)) { _ in }
        #expect(try found.read { try $0.count("t") } == 5)
        #expect(try found.read { try $0.isIntact() })
        // Zeros alone, as a crash before the first commit leaves them.
        let zeros = path + "-zeros"
        try FileManager.default.copyItem(atPath: path, toPath: zeros)
        try Data(count: 1 << 20).write(to: URL(fileURLWithPath: zeros + "-wal"))
        let empty = try Database(zeros, BusyTimeout(seconds: 60)) { _ in }
        #expect(try empty.read { try $0.count("t") } == 0)
        try empty.write(Self.insert(1))
        #expect(try empty.read { try $0.count("t") } == 1)
    }
}
