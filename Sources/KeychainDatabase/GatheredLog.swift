// SPDX-License-Identifier: Apache-2.0
internal import CKeychainSQLite

/// A write-ahead log that writes its records together when it is synced. SQLite writes each page,
/// and the header of each page, by a call of its own: sixteen calls for a new item of eight pages.
///
/// Only for connections that sync their log with each commit: SQLite tells other connections of
/// records after that. Everything else that asks for the log's content writes the records first.
/// The records of a transaction that was rolled back are dropped: another connection may have
/// written its own in their place since. A write that failed is told by every later call, until the
/// transaction is rolled back.
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
    /// Zeros that a log is grown with: no piece is short enough to wait with the records.
    private static let growth = 64 * 1024

    private let system: UnsafePointer<sqlite3_io_methods>
    private var methods: sqlite3_io_methods
    private let gathered: UnsafeMutableRawPointer
    private var count = 0
    private var offset: sqlite3_int64 = 0
    /// The bytes that the log has on the disk, at the least, once it has begun anew.
    private var kept: sqlite3_int64 = 0
    /// What a write of records has failed with, in this transaction.
    private var failure = SQLITE_OK

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

    /// Has the connection drop what it has gathered whenever a transaction of its own is rolled
    /// back, also by SQLite itself. It must live as long as the connection.
    static func dropAtRollback(of connection: OpaquePointer) {
        // Safe: SQLite gives the connection back, which is open as long as the hook is set.
        _ = unsafe sqlite3_rollback_hook(
            connection,
            { connection in
                guard let connection = unsafe connection else { return }
                unsafe GatheredLog.drop(OpaquePointer(connection))
            }, UnsafeMutableRawPointer(connection))
    }

    private static func drop(_ connection: OpaquePointer) {
        // Safe: the log of a connection that is open.
        unsafe log(of: connection)?.pointee.drop()
    }

    /// Has the connection grow its log to `bytes`, or some more, whenever the log begins anew.
    /// SQLite does not take the added zeros for records. Syncing a file that grows also writes its
    /// new length, which takes as long again.
    ///
    /// The log's size is asked for only then. A file whose times were asked for gets a new time
    /// with its next write, also where the old one is of the same tick of the kernel's clock; and
    /// without a journal, ext4 writes the times with each sync (0.05 ms).
    static func keep(_ bytes: Int, of connection: OpaquePointer) {
        // Safe: the log of a connection that is open.
        unsafe log(of: connection)?.pointee.kept = sqlite3_int64(bytes)
    }

    /// The log of a connection, once it has one.
    private static func log(of connection: OpaquePointer) -> UnsafeMutablePointer<GatheredLog>? {
        var file: File?
        // Safe: SQLite writes the pointer to the log's file, which is open.
        let code = unsafe withUnsafeMutablePointer(to: &file) {
            unsafe sqlite3_file_control(connection, nil, SQLITE_FCNTL_JOURNAL_POINTER, $0)
        }
        // A journal that is no log has other methods, and nothing behind the system's structure.
        guard code == SQLITE_OK, let log = unsafe log(of: file),
            let methods = unsafe file?.pointee.pMethods,
            let place = MemoryLayout<GatheredLog>.offset(of: \.methods),
            unsafe UnsafeRawPointer(methods) == UnsafeRawPointer(log).advanced(by: place)
        else { return nil }
        return unsafe log
    }

    private mutating func drop() {
        count = 0
        failure = SQLITE_OK
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
        // What is gathered then belongs to a transaction without an end.
        unsafe methods.xClose = { file in
            guard let log = unsafe GatheredLog.log(of: file) else { return SQLITE_IOERR }
            unsafe log.pointee.gathered.deallocate()
            return unsafe log.pointee.system.pointee.xClose(file)
        }
    }

    private static func write(
        _ file: File?, _ bytes: UnsafeRawPointer?, _ count: Int32, _ offset: sqlite3_int64
    ) -> Int32 {
        guard let log = unsafe log(of: file), let bytes = unsafe bytes else { return SQLITE_IOERR }
        let (size, end) = unsafe (Int(count), log.pointee.offset + Int64(log.pointee.count))
        let isRecord = size <= mostOfOne
        // The log's own header is written where the log begins anew, and at no other time.
        if offset == 0 { unsafe log.pointee.grow(file) }
        if unsafe !isRecord || offset != end || log.pointee.count + size > most
            || log.pointee.failure != SQLITE_OK
        {
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

    private mutating func writeGathered(_ file: File?) -> Int32 {
        guard count > 0, failure == SQLITE_OK else { return failure }
        let size = Int32(clamping: count)
        count = 0
        // Safe: that many bytes were copied there.
        failure = unsafe system.pointee.xWrite(file, gathered, size, offset)
        return failure
    }

    /// Where that is impossible the log stays as it is: a full disk needs its last space for the
    /// records themselves.
    private func grow(_ file: File?) {
        // Safe: the system's own functions for the open file, and memory of this function's own.
        guard kept > 0, let sizeOf = unsafe system.pointee.xFileSize,
            let write = unsafe system.pointee.xWrite
        else { return }
        var size: sqlite3_int64 = 0
        guard unsafe sizeOf(file, &size) == SQLITE_OK, size < kept else { return }
        let began = size
        let zeros = [UInt8](repeating: 0, count: Self.growth)
        while size < kept {
            guard unsafe write(file, zeros, Int32(zeros.count), size) == SQLITE_OK else {
                if let truncate = unsafe system.pointee.xTruncate {
                    _ = unsafe truncate(file, began)
                }
                return
            }
            size += sqlite3_int64(zeros.count)
        }
    }
}
