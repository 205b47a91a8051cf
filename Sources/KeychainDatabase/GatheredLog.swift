// SPDX-License-Identifier: Apache-2.0
internal import CKeychainSQLite

/// A write-ahead log that writes its records together when it is synced. SQLite writes each page,
/// and the header of each page, by a call of its own: sixteen calls for a new item of eight pages.
///
/// Only for connections that sync their log with each commit: SQLite tells other connections of
/// records after that. Everything else that asks for the log's content writes the records first.
///
/// It lies in SQLite's memory for the open file, behind the system's own structure.
// Safe: what the pointers lead to lives as long as the file is open, and only the thread that uses
// the connection touches it.
@safe struct GatheredLog {
    private typealias File = UnsafeMutablePointer<sqlite3_file>

    /// Sixteen pages with their headers: more are written in pieces of so many.
    private static let most = 16 * (24 + 4096)
    /// Longer writes are no records.
    private static let mostOfOne = 4096

    private let system: UnsafePointer<sqlite3_io_methods>
    private var methods: sqlite3_io_methods
    private let gathered: UnsafeMutableRawPointer
    private var count = 0
    private var offset: sqlite3_int64 = 0

    /// The memory that SQLite allocates for a file: the system's structure, then this one.
    static func bytes(behind system: Int32) -> Int32 {
        Int32(clamping: place(behind: system) + MemoryLayout<GatheredLog>.size)
    }

    private static func place(behind system: Int32) -> Int {
        let alignment = MemoryLayout<GatheredLog>.alignment
        return (Int(system) + alignment - 1) / alignment * alignment
    }

    private static func log(of file: File?) -> UnsafeMutablePointer<GatheredLog>? {
        // Safe: `begin` has written a log there before SQLite calls any of the methods below.
        guard let file = unsafe file, let system = unsafe ReservingFiles.system else { return nil }
        return unsafe UnsafeMutableRawPointer(file)
            .advanced(by: place(behind: system.pointee.szOsFile))
            .assumingMemoryBound(to: GatheredLog.self)
    }

    /// Takes over a log that the system has opened.
    static func begin(_ file: UnsafeMutablePointer<sqlite3_file>) {
        guard let system = unsafe file.pointee.pMethods, let log = unsafe log(of: file) else {
            return
        }
        // Safe: the table is the log's own, within memory that ends with the file.
        unsafe log.initialize(
            to: GatheredLog(
                system: system, methods: system.pointee,
                gathered: .allocate(byteCount: most, alignment: 16)))
        unsafe setMethods(&log.pointee.methods)
        unsafe file.pointee.pMethods = withUnsafePointer(to: &log.pointee.methods) { unsafe $0 }
    }

    private static func setMethods(_ methods: inout sqlite3_io_methods) {
        // Safe: each passes on what SQLite gave to the system's own function.
        unsafe methods.xWrite = { file, bytes, count, offset in
            unsafe GatheredLog.write(file, bytes, count, offset)
        }
        unsafe methods.xRead = { file, bytes, count, offset in
            unsafe GatheredLog.written(file) { unsafe $0.xRead(file, bytes, count, offset) }
        }
        unsafe methods.xSync = { file, flags in
            unsafe GatheredLog.written(file) { unsafe $0.xSync(file, flags) }
        }
        unsafe methods.xTruncate = { file, size in
            unsafe GatheredLog.written(file) { unsafe $0.xTruncate(file, size) }
        }
        unsafe methods.xFileSize = { file, size in
            unsafe GatheredLog.written(file) { unsafe $0.xFileSize(file, size) }
        }
        unsafe methods.xClose = { file in
            let code = unsafe GatheredLog.written(file) { _ in SQLITE_OK }
            guard let log = unsafe GatheredLog.log(of: file) else { return SQLITE_IOERR }
            unsafe log.pointee.gathered.deallocate()
            let closed = unsafe log.pointee.system.pointee.xClose(file)
            return code == SQLITE_OK ? closed : code
        }
    }

    private static func write(
        _ file: File?, _ bytes: UnsafeRawPointer?, _ count: Int32, _ offset: sqlite3_int64
    ) -> Int32 {
        guard let log = unsafe log(of: file), let bytes = unsafe bytes else { return SQLITE_IOERR }
        let (size, end) = unsafe (Int(count), log.pointee.offset + Int64(log.pointee.count))
        let isRecord = size <= mostOfOne
        if unsafe !isRecord || offset != end || log.pointee.count + size > most {
            let code = unsafe log.pointee.writeGathered(file)
            guard code == SQLITE_OK else { return code }
        }
        guard isRecord else {
            return unsafe log.pointee.system.pointee.xWrite(file, bytes, count, offset)
        }
        // Safe: there is room for `most` bytes, and SQLite has `count` bytes there.
        if unsafe log.pointee.count == 0 { unsafe log.pointee.offset = offset }
        unsafe (log.pointee.gathered + log.pointee.count).copyMemory(from: bytes, byteCount: size)
        unsafe log.pointee.count += size
        return SQLITE_OK
    }

    /// Runs `body` with the system's methods once everything gathered is in the file.
    private static func written(
        _ file: File?, _ body: (sqlite3_io_methods) -> Int32
    ) -> Int32 {
        // Safe: the log of an open file, and the table that the system gave for it.
        guard let log = unsafe log(of: file) else { return SQLITE_IOERR }
        let code = unsafe log.pointee.writeGathered(file)
        return code == SQLITE_OK ? unsafe body(log.pointee.system.pointee) : code
    }

    /// Records that can't be written are dropped: SQLite then undoes their transaction.
    private mutating func writeGathered(_ file: File?) -> Int32 {
        guard count > 0 else { return SQLITE_OK }
        let size = Int32(clamping: count)
        count = 0
        // Safe: that many bytes were copied there.
        return unsafe system.pointee.xWrite(file, gathered, size, offset)
    }
}
