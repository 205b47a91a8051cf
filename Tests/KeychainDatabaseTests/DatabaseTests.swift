// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Synchronization
import Testing

@testable import KeychainDatabase

@Suite struct DatabaseTests {
    private let folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("database-\(UInt64.random(in: .min ... .max))")
    private var path: String { folder.path + "/file" }

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func database() throws -> Database {
        let made = try Connection(path, .making, BusyTimeout(seconds: 5))
        try made.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (n INTEGER UNIQUE, v BLOB);")
        return try Database(path, BusyTimeout(seconds: 5)) { _ in }
    }

    private func numbers(_ database: Database) throws -> [Int64] {
        try database.read { try $0.all("SELECT n FROM t ORDER BY n") { $0.integer(0) } }
    }

    @Test func `a value comes back as it was bound`() throws {
        let database = try database()
        try database.write { connection in
            try connection.run("INSERT INTO t VALUES (?, ?)", .integer(.min), .blob([0, 255]))
            try connection.run("INSERT INTO t VALUES (?, ?)", .integer(.max), .blob([]))
            try connection.run("INSERT INTO t VALUES (?, ?)", .null, .null)
        }
        let rows = try database.read { connection in
            try connection.all("SELECT n, v FROM t ORDER BY n") { row in
                [row.integer(0).map { "\($0)" }, row.blob(1).map { "\($0)" }]
            }
        }
        #expect(rows == [[nil, nil], ["\(Int64.min)", "[0, 255]"], ["\(Int64.max)", "[]"]])
    }

    @Test func `a column of another type reads as nil, and never traps`() throws {
        let database = try database()
        let read = try database.read { connection in
            try connection.first("SELECT 'text', 1.5, x'00', NULL, 7") { row in
                [
                    row.integer(0) == nil, row.integer(1) == nil, row.text(2) == nil,
                    row.blob(3) == nil, row.text(4) == nil, row.blob(9) == nil, row.isNull(3),
                ]
            }
        }
        #expect(read == Array(repeating: true, count: 7))
    }

    @Test func `all of a write is there after it, or none`() throws {
        let database = try database()
        #expect(throws: DatabaseError.self) {
            try database.write { connection in
                try connection.run("INSERT INTO t VALUES (1, NULL)")
                try connection.run("INSERT INTO t VALUES (1, NULL)")
            }
        }
        #expect(try numbers(database).isEmpty)
        try database.write { try $0.run("INSERT INTO t VALUES (2, NULL)") }
        #expect(try numbers(Database(path, BusyTimeout(seconds: 5)) { _ in }) == [2])
    }

    @Test func `a reader sees one moment while others write`() throws {
        let database = try database()
        try database.write { try $0.run("INSERT INTO t VALUES (1, NULL)") }
        try database.read { connection in
            #expect(try connection.count("t") == 1)
            try database.write { try $0.run("INSERT INTO t VALUES (2, NULL)") }
            #expect(try connection.count("t") == 1)
        }
        #expect(try numbers(database) == [1, 2])
    }

    /// Thirty-two threads write at once; every third of them writes what another has, and fails.
    @Test func `threads that share a commit keep their own work and lose only their own`() throws {
        let database = try database()
        try database.write { try $0.run("INSERT INTO t VALUES (1000, NULL)") }
        let failed = Mutex<Set<Int>>([])
        DispatchQueue.concurrentPerform(iterations: 32) { number in
            do {
                try database.write { connection in
                    try connection.run("INSERT INTO t VALUES (?, NULL)", .integer(Int64(number)))
                    if number % 3 == 0 { try connection.run("INSERT INTO t VALUES (1000, NULL)") }
                }
                // It is on the disk when the call returns: another connection sees it.
                let seen = try Connection(path, .reading, BusyTimeout(seconds: 5))
                    .exists("SELECT 1 FROM t WHERE n = ?", .integer(Int64(number)))
                #expect(seen)
            } catch { failed.withLock { _ = $0.insert(number) } }
        }
        let third = Set((0..<32).filter { $0 % 3 == 0 })
        #expect(failed.withLock { $0 } == third)
        #expect(
            try Set(numbers(database))
                == Set((0..<32).map(Int64.init)).subtracting(
                    third.map(Int64.init)
                ).union([1000]))
    }

    @Test func `what runs outside a transaction finds the others' work committed`() throws {
        let database = try database()
        DispatchQueue.concurrentPerform(iterations: 16) { number in
            if number % 4 == 0 {
                try? database.withWriter { connection in
                    // VACUUM refuses to run within a transaction.
                    #expect(throws: Never.self) { try connection.run("VACUUM") }
                }
            } else {
                try? database.write {
                    try $0.run("INSERT INTO t VALUES (?, NULL)", .integer(Int64(number)))
                }
            }
        }
        #expect(try numbers(database).count == 12)
    }

    @Test func `a full file fails the writes that do not fit, and the next fits again`() throws {
        let database = try database()
        try database.withWriter { try $0.execute("PRAGMA max_page_count = 4") }
        DispatchQueue.concurrentPerform(iterations: 8) { number in
            #expect(throws: DatabaseError.self) {
                try database.write {
                    try $0.run(
                        "INSERT INTO t VALUES (?, ?)", .integer(Int64(number)),
                        .blob([UInt8](repeating: 1, count: 100_000)))
                }
            }
        }
        #expect(try numbers(database).isEmpty)
        try database.write { try $0.run("INSERT INTO t VALUES (1, NULL)") }
        #expect(try numbers(database) == [1])
    }

    @Test func `a connection waits for another process no longer than it was told`() throws {
        let database = try database()
        let other = try Connection(path, .writing, BusyTimeout(seconds: 0))
        try database.write { _ in
            let error = #expect(throws: DatabaseError.self) {
                try other.run("INSERT INTO t VALUES (1, NULL)")
            }
            #expect(error?.kind == .busy)
        }
    }

    // MARK: Waits within the process

    private func reading<R>(
        _ database: Database, _ users: ArraySlice<UInt32?>, _ body: () throws -> R
    ) throws -> R {
        guard let user = users.first else { return try body() }
        return try database.read(for: user) { _ in
            try reading(database, users.dropFirst(), body)
        }
    }

    private static func readers(of user: UInt32?, _ count: Int) -> ArraySlice<UInt32?> {
        ArraySlice(repeating: user, count: count)
    }

    @Test func `a connection that reads is waited for no longer than was told`() throws {
        _ = try database()
        let database = try Database(path, BusyTimeout(seconds: 0.05)) { _ in }
        let error = #expect(throws: DatabaseError.self) {
            try reading(database, Self.readers(of: nil, ReaderPool.most + 1)) {}
        }
        #expect(error?.kind == .busy)
        // None is lost by that.
        try reading(database, Self.readers(of: nil, ReaderPool.most)) {}
    }

    @Test func `one of several users leaves a connection for the others`() throws {
        _ = try database()
        let database = try Database(path, BusyTimeout(seconds: 0.05)) { _ in }
        let most = Self.readers(of: 1, ReaderPool.mostOfOneUser)
        #expect(throws: DatabaseError.self) { try reading(database, most + [1]) {} }
        #expect(throws: DatabaseError.self) { try reading(database, most + [2, 1]) {} }
        try reading(database, most + [2]) {}
    }

    @Test func `a connection that comes free is the user's who holds the fewest`() throws {
        let pool = ReaderPool()
        let long = BusyTimeout(seconds: 60)
        var held = try (0..<ReaderPool.most).map {
            try pool.take(for: $0 < ReaderPool.most / 2 ? 1 : 2, within: long)
        }
        let order = Mutex<[UInt32]>([])
        let group = DispatchGroup()
        for (count, user) in [UInt32(1), 3].enumerated() {
            DispatchQueue.global().async(group: group) {
                guard let reader = try? pool.take(for: user, within: long) else { return }
                order.withLock { $0.append(user) }
                pool.giveBack(reader, of: user)
            }
            while pool.waitingCount <= count { usleep(1000) }
        }
        pool.giveBack(held.removeLast(), of: 2)
        group.wait()
        #expect(order.withLock { $0 } == [3, 1])
    }

    @Test func `a turn to write is waited for no longer than was told, and nothing is written`()
        throws
    {
        _ = try database()
        let database = try Database(path, BusyTimeout(seconds: 0.05)) { _ in }
        try database.write { connection in
            try connection.run("INSERT INTO t VALUES (1, NULL)")
            let group = DispatchGroup()
            let kinds = Mutex<[DatabaseError.Kind]>([])
            for number in 2..<5 {
                DispatchQueue.global().async(group: group) {
                    do {
                        try database.write {
                            try $0.run("INSERT INTO t VALUES (?, NULL)", .integer(Int64(number)))
                        }
                    } catch let error as DatabaseError {
                        kinds.withLock { $0.append(error.kind) }
                    } catch { Issue.record(error) }
                }
            }
            group.wait()
            #expect(kinds.withLock { $0 } == [.busy, .busy, .busy])
        }
        try database.write { try $0.run("INSERT INTO t VALUES (9, NULL)") }
        #expect(try numbers(database) == [1, 9])
    }
}
