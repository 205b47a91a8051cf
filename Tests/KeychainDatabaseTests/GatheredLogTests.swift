// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import KeychainDatabase

/// How the log of a connection that syncs each commit is written.
@Suite struct GatheredLogTests {
    private let path: String

    init() throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("gathered-\(UInt64.random(in: .min ... .max))")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.path + "/file"
    }

    private func database(_ setting: String = "", logBytes: Int = 0) throws -> Database {
        let made = try Connection(path, .making, BusyTimeout(seconds: 5))
        try made.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (n INTEGER, v BLOB);")
        return try Database(path, BusyTimeout(seconds: 5), logBytes: logBytes) {
            try $0.execute(setting)
        }
    }

    private func add(_ bytes: Int, _ connection: Connection) throws {
        let value = [UInt8](repeating: 7, count: bytes)
        try connection.run("INSERT INTO t VALUES (1, ?)", .blob(value))
    }

    /// Another connection finds the file whole, and values of so many bytes in all.
    private func expectStored(_ bytes: Int64) throws {
        let other = try Connection(path, .reading, BusyTimeout(seconds: 5))
        let found = try other.first("SELECT sum(length(v)) FROM t") { $0.integer(0) }
        #expect(found == bytes)
        #expect(try other.isIntact())
    }

    /// The calls of this thread that write while the body runs (proc(5), io).
    private func writingCalls(_ body: () throws -> Void) throws -> Int {
        func calls() throws -> Int {
            let lines = try String(contentsOfFile: "/proc/thread-self/io", encoding: .utf8)
                .split(separator: "\n")
            let line = try #require(lines.first { $0.hasPrefix("syscw: ") })
            return try #require(Int(line.dropFirst("syscw: ".count)))
        }
        let before = try calls()
        try body()
        return try calls() - before
    }

    @Test func `the pages of a commit are written by one call`() throws {
        let database = try database()
        try database.write { try add(10, $0) }
        let calls = try writingCalls { try database.write { try add(9 * 4096, $0) } }
        #expect(calls == 1)
        try expectStored(10 + 9 * 4096)
    }

    /// The time that the log was written last. Linux 6.13 gives a file of which it was asked for a
    /// new one with its next write, and else one in each tick of the clock.
    private func timeOfLog() throws -> Double {
        var status = stat()
        try #require(unsafe stat(path + "-wal", &status) == 0)
        return Double(status.st_mtim.tv_sec) + Double(status.st_mtim.tv_nsec) / 1e9
    }

    @Test func `commits within one tick of the clock write the log's time once`() throws {
        let database = try database(logBytes: 1 << 20)
        try database.write { try add(10, $0) }
        // A tick passes between some.
        let rounds = 50
        let timesKept = try (1...rounds).count { _ in
            _ = try timeOfLog()
            try database.write { try add(10, $0) }
            let between = Date().timeIntervalSince1970
            try database.write { try add(10, $0) }
            return try timeOfLog() < between
        }
        #expect(timesKept > rounds / 2)
    }

    @Test func `a commit of more pages than are gathered at once is whole`() throws {
        let database = try database()
        let calls = try writingCalls { try database.write { try add(64 * 4096, $0) } }
        #expect(calls < 16)
        try expectStored(64 * 4096)
    }

    @Test func `a transaction reads its own pages that were written before its end`() throws {
        let database = try database("PRAGMA cache_size = 10")
        try database.write { connection in
            for number in 1...100 {
                try add(3000, connection)
                #expect(try connection.count("t") == number)
            }
        }
        try expectStored(300_000)
    }

    @Test func `pages of a transaction that is undone are not in the next one`() throws {
        let database = try database("PRAGMA cache_size = 10")
        try database.write { try add(10, $0) }
        #expect(throws: DatabaseError.self) {
            try database.write { connection in
                for _ in 1...100 { try add(3000, connection) }
                throw DatabaseError.busy
            }
        }
        try database.write { try add(20, $0) }
        try expectStored(30)
    }

    enum Then: CaseIterable { case writes, reads, ends }

    @Test(arguments: Then.allCases)
    func `pages of a transaction that is undone are in no later one of another connection's`(
        then: Then
    ) throws {
        var first: Database? = try database("PRAGMA cache_size = 10; PRAGMA secure_delete = ON")
        try first?.write { try add(500_000, $0) }
        try first?.withWriter { $0.emptyLog() }
        let second = try Database(path, BusyTimeout(seconds: 5)) { _ in }
        // Deleting it leaves more of its pages than the cache has, and pages of its own in the log.
        #expect(throws: DatabaseError.self) {
            try first?.write { connection in
                try connection.run("DELETE FROM t")
                throw DatabaseError.busy
            }
        }
        for _ in 1...40 { try second.write { try add(10_000, $0) } }
        switch then {
        case .writes: try first?.write { try add(7, $0) }
        case .reads: _ = try first?.withWriter { try $0.count("t") }
        case .ends: first = nil
        }
        let all: Int64 = 500_000 + 400_000 + (then == .writes ? 7 : 0)
        try expectStored(all)
        // As after a power cut: from what the log has on the disk.
        for end in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: path + end, toPath: path + "-copy" + end)
        }
        let copy = try Connection(path + "-copy", .writing, BusyTimeout(seconds: 5))
        #expect(try copy.first("SELECT sum(length(v)) FROM t") { $0.integer(0) } == all)
        #expect(try copy.isIntact())
        withExtendedLifetime(second) {}
    }
}
