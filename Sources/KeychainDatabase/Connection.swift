// SPDX-License-Identifier: Apache-2.0
internal import CKeychainSQLite

/// The text of a statement that is run often: a connection finds it by its address.
package final class Query: Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }
}

/// One connection to an SQLite file, with the statements that it has prepared.
///
/// Only one thread may use it at a time, which its owner ensures.
///
/// Statements are found by their text; those of a `Query` by its address, which needs no hash of
/// the text.
@safe package final class Connection: @unchecked Sendable {
    package enum Mode: Sendable {
        case reading
        case writing
        /// Writes, and syncs the log with each commit (`PRAGMA synchronous = FULL`).
        case syncing
        /// Makes the file where there is none.
        case making
    }

    // Safe to send: SQLite's connections may move between threads that don't use them at once.
    private let handle: OpaquePointer
    private var statements: [String: Statement] = [:]
    /// The query is kept with its statement, so that no other object gets its address.
    private var queries: [ObjectIdentifier: (query: Query, statement: Statement)] = [:]

    package init(
        _ path: String, _ mode: Mode, _ timeout: BusyTimeout
    ) throws(DatabaseError) {
        var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        switch mode {
        case .reading: flags |= SQLITE_OPEN_READONLY
        case .writing, .syncing: flags |= SQLITE_OPEN_READWRITE
        case .making: flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        }
        guard ReservingFiles.isRegistered else { throw DatabaseError(code: SQLITE_NOMEM) }
        var handle: OpaquePointer?
        let files = mode == .syncing ? ReservingFiles.gatheringName : ReservingFiles.name
        // Safe: SQLite reads the texts until their zeros and writes one pointer, which is closed
        // below where the opening failed.
        let code = unsafe sqlite3_open_v2(path, &handle, flags, files)
        guard code == SQLITE_OK, let handle = unsafe handle else {
            unsafe sqlite3_close_v2(handle)
            throw DatabaseError(code: code)
        }
        unsafe self.handle = handle
        unsafe timeout.apply(to: handle)
        if mode == .syncing { unsafe GatheredLog.dropAtRollback(of: handle) }
    }

    /// Reads a foreign file through its descriptor, which the caller owns and keeps open for
    /// longer. The connection reads the file as it is now, and nothing else.
    package init(readingForeign descriptor: Int32) throws(DatabaseError) {
        guard DescriptorFile.isRegistered else { throw DatabaseError(code: SQLITE_NOMEM) }
        var handle: OpaquePointer?
        let flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_READONLY
        // Safe: as above.
        var code = unsafe sqlite3_open_v2(
            String(descriptor), &handle, flags, DescriptorFile.name)
        if code == SQLITE_OK { code = unsafe kc_distrust(handle) }
        guard code == SQLITE_OK, let handle = unsafe handle else {
            unsafe sqlite3_close_v2(handle)
            throw DatabaseError(code: code)
        }
        unsafe self.handle = handle
        try execute(
            """
            PRAGMA query_only = ON;
            PRAGMA cell_size_check = ON;
            PRAGMA mmap_size = 0;
            PRAGMA temp_store = MEMORY;
            """)
    }

    deinit {
        // Safe: the handle is this object's alone. SQLite keeps it for statements that are left.
        unsafe sqlite3_close_v2(handle)
    }

    /// A longer value or record is an error from now on, in the statement that reads it.
    package func refuseValues(longerThan bytes: Int) {
        // Safe: a limit is a number.
        _ = unsafe sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, Int32(clamping: bytes))
    }

    // MARK: Statements

    /// Runs statements that take no values and give no rows.
    package func execute(_ script: String) throws(DatabaseError) {
        // Safe: SQLite reads the text until its zero.
        let code = unsafe sqlite3_exec(handle, script, nil, nil, nil)
        guard code == SQLITE_OK else { throw DatabaseError(code: code) }
    }

    /// Runs one statement, which stays prepared.
    package func run(_ sql: String, _ values: Value...) throws {
        try statement(sql).run(values) { _ in true }
    }

    package func run(_ query: Query, _ values: Value...) throws {
        try statement(query).run(values) { _ in true }
    }

    /// Runs one statement; `body` sees each row until it returns false.
    package func forEach(
        _ sql: String, _ values: [Value] = [], _ body: (borrowing Row) throws -> Bool
    ) throws {
        try statement(sql).run(values, body)
    }

    package func forEach(
        _ query: Query, _ values: [Value], _ body: (borrowing Row) throws -> Bool
    ) throws {
        try statement(query).run(values, body)
    }

    /// The first row as `read` returns it; nil where there is none.
    package func first<R>(
        _ sql: String, _ values: Value..., as read: (borrowing Row) throws -> R?
    ) throws -> R? {
        var result: R?
        try statement(sql).run(values) { row in
            result = try read(row)
            return false
        }
        return result
    }

    package func first<R>(
        _ query: Query, _ values: Value..., as read: (borrowing Row) throws -> R?
    ) throws -> R? {
        var result: R?
        try statement(query).run(values) { row in
            result = try read(row)
            return false
        }
        return result
    }

    /// All rows as `read` returns them; an invalid row ends the reading.
    package func all<R>(
        _ sql: String, _ values: Value..., as read: (borrowing Row) throws -> R?
    ) throws -> [R] {
        var result: [R] = []
        try statement(sql).run(values) { row in
            guard let value = try read(row) else { throw DatabaseError.wrongType }
            result.append(value)
            return true
        }
        return result
    }

    /// Whether the query has a row.
    package func exists(_ query: String, _ values: Value...) throws -> Bool {
        var exists = false
        try statement(query).run(values) { _ in
            exists = true
            return false
        }
        return exists
    }

    /// Counts the rows of a table, or of a table and a condition.
    package func count(_ rows: String) throws -> Int {
        try Int(clamping: first("SELECT count(*) FROM \(rows)") { $0.integer(0) } ?? 0)
    }

    /// Whether SQLite finds no fault in the whole file.
    package func isIntact() throws -> Bool {
        try all("PRAGMA integrity_check(1)") { $0.text(0) } == ["ok"]
    }

    /// The number of the row that was inserted last.
    // Safe: the handle is this connection's own, open as long as the connection lives.
    package var lastInsertedRow: Int64 { unsafe sqlite3_last_insert_rowid(handle) }

    private func statement(_ sql: String) throws(DatabaseError) -> Statement {
        if let kept = statements[sql] { return kept }
        // Safe: the handle stays open until `deinit`; SQLite keeps it for statements that are left.
        let made = try unsafe Statement(sql, handle)
        statements[sql] = made
        return made
    }

    private func statement(_ query: Query) throws(DatabaseError) -> Statement {
        if let kept = queries[ObjectIdentifier(query)] { return kept.statement }
        // Safe: as above.
        let made = try unsafe Statement(query.text, handle)
        queries[ObjectIdentifier(query)] = (query, made)
        return made
    }

    // MARK: Transactions

    /// Runs `body` in one snapshot.
    package func snapshot<R>(_ body: () throws -> R) throws -> R {
        try run("BEGIN")
        // Ends a transaction that has only read, so nothing can be lost.
        defer { try? run("COMMIT") }
        return try body()
    }

    /// Everything that `body` writes is on the disk on return, or nothing.
    package func transaction<R>(_ body: () throws -> R) throws -> R {
        try run("BEGIN IMMEDIATE")
        do {
            let result = try body()
            try run("COMMIT")
            return result
        } catch {
            rollBack()
            throw error
        }
    }

    private static let savepoint = Query("SAVEPOINT one")
    private static let undo = Query("ROLLBACK TO one")
    private static let release = Query("RELEASE one")

    /// Within a transaction: keeps everything that `body` writes, or nothing.
    func savepoint<R>(_ body: () throws -> R) throws -> R {
        try run(Self.savepoint)
        do {
            let result = try body()
            try run(Self.release)
            return result
        } catch {
            if isInTransaction { undoSavepoint() }
            throw error
        }
    }

    /// Where undoing fails, the whole transaction is rolled back: a commit would keep half of the
    /// writes.
    private func undoSavepoint() {
        do {
            try run(Self.undo)
            try run(Self.release)
        } catch { rollBack() }
    }

    /// False also where SQLite has ended a transaction by itself, after an error of the disk.
    // Safe: as above: the handle is open as long as the connection lives.
    var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

    func rollBack() { if isInTransaction { try? run("ROLLBACK") } }

    /// Within a transaction of a connection that syncs: from now on a log that begins anew has that
    /// many bytes on the disk.
    func keepLog(of bytes: Int) {
        // Safe: the handle is open as long as the connection lives.
        unsafe GatheredLog.keep(bytes, of: handle)
    }

    /// Writes the log back into the file and empties it. Skipped while a reader is in the way.
    package func emptyLog() {
        // Safe: no name means all databases of the connection; the counts are not asked for.
        _ = unsafe sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    }
}

/// A value for a statement's parameter.
package enum Value: Sendable {
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])
    case null
}

/// A prepared statement, kept by its connection.
@safe final class Statement {
    private let handle: OpaquePointer

    init(_ sql: String, _ connection: OpaquePointer) throws(DatabaseError) {
        var handle: OpaquePointer?
        // Safe: SQLite reads the text until its zero and writes one pointer.
        let code = unsafe sqlite3_prepare_v3(
            connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
        guard code == SQLITE_OK, let handle = unsafe handle else {
            throw DatabaseError(code: unsafe sqlite3_extended_errcode(connection))
        }
        unsafe self.handle = handle
    }

    deinit {
        // Safe: this object alone has the handle.
        unsafe sqlite3_finalize(handle)
    }

    /// Runs the statement; `body` gets each row until it returns false. Afterwards the statement is
    /// ready for the next run, and holds none of the values.
    func run(_ values: [Value], _ body: (borrowing Row) throws -> Bool) throws {
        // Safe: the handle lives as long as this object.
        defer {
            unsafe sqlite3_reset(handle)
            if !values.isEmpty { unsafe sqlite3_clear_bindings(handle) }
        }
        for (index, value) in values.enumerated() {
            let code = bind(value, Int32(index + 1))
            guard code == SQLITE_OK else { throw DatabaseError(code: code) }
        }
        while true {
            // Safe: as above; the row is borrowed for one call and the statement moves after it.
            switch unsafe sqlite3_step(handle) {
            case SQLITE_ROW: guard try body(unsafe Row(handle)) else { return }
            case SQLITE_DONE: return
            default:
                throw DatabaseError(
                    code: unsafe sqlite3_extended_errcode(sqlite3_db_handle(handle)))
            }
        }
    }

    private func bind(_ value: Value, _ place: Int32) -> Int32 {
        // Safe: SQLite copies texts and bytes before the call returns (SQLITE_TRANSIENT).
        let copied = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch value {
        case .integer(let number): return unsafe sqlite3_bind_int64(handle, place, number)
        case .real(let number): return unsafe sqlite3_bind_double(handle, place, number)
        case .text(let text): return unsafe sqlite3_bind_text(handle, place, text, -1, copied)
        // An empty array has no address, and a null address would mean NULL.
        case .blob(let bytes) where bytes.isEmpty:
            return unsafe sqlite3_bind_zeroblob(handle, place, 0)
        case .blob(let bytes):
            return unsafe sqlite3_bind_blob64(
                handle, place, bytes, UInt64(bytes.count), copied)
        case .null: return unsafe sqlite3_bind_null(handle, place)
        }
    }
}

/// One row of a result, valid while the closure that gets it runs.
///
/// A foreign file's column may hold any type, so each reading is optional: nil for NULL and for
/// another type than the requested one.
@safe @usableFromInline package struct Row: ~Copyable {
    private let statement: OpaquePointer

    // Safe: only stores the pointer; the row ends with the closure, before its statement does.
    init(_ statement: OpaquePointer) { unsafe self.statement = statement }

    package func integer(_ column: Int32) -> Int64? {
        // Safe: the statement stands on a row while this value lives; a column that is not there
        // reads as NULL.
        guard unsafe sqlite3_column_type(statement, column) == SQLITE_INTEGER else { return nil }
        return unsafe sqlite3_column_int64(statement, column)
    }

    package func isNull(_ column: Int32) -> Bool {
        // Safe: as above.
        unsafe sqlite3_column_type(statement, column) == SQLITE_NULL
    }

    /// The value as stored, of any type.
    package func value(_ column: Int32) -> Value {
        // Safe: as above.
        switch unsafe sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: .integer(unsafe sqlite3_column_int64(statement, column))
        case SQLITE_FLOAT: .real(unsafe sqlite3_column_double(statement, column))
        case SQLITE_TEXT: .text(text(column) ?? "")
        case SQLITE_BLOB: .blob(blob(column) ?? [])
        default: .null
        }
    }

    package func text(_ column: Int32) -> String? {
        // Safe: as above; SQLite ends the text with a zero.
        guard unsafe sqlite3_column_type(statement, column) == SQLITE_TEXT,
            let text = unsafe sqlite3_column_text(statement, column)
        else { return nil }
        let count = Int(unsafe sqlite3_column_bytes(statement, column))
        return unsafe String(
            decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
    }

    package func blob(_ column: Int32) -> [UInt8]? {
        // Safe: SQLite keeps the bytes until the statement moves; they are copied here.
        guard unsafe sqlite3_column_type(statement, column) == SQLITE_BLOB else { return nil }
        let count = Int(unsafe sqlite3_column_bytes(statement, column))
        guard count > 0, let bytes = unsafe sqlite3_column_blob(statement, column) else {
            return []
        }
        return unsafe [UInt8](UnsafeRawBufferPointer(start: bytes, count: count))
    }

    /// The bytes in SQLite's memory, while the closure runs; nil for a column of another type.
    @inlinable
    package borrowing func withBlob<R: ~Copyable, E: Error>(
        _ column: Int32, _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R? {
        guard let bytes = unsafe place(ofBlob: column) else { return nil }
        // Safe: the statement moves after the closure has returned.
        return try body(unsafe RawSpan(_unsafeBytes: bytes))
    }

    // Safe: for `withBlob` alone, which hands the place on while the row lives.
    @usableFromInline
    borrowing func place(ofBlob column: Int32) -> UnsafeRawBufferPointer? {
        guard unsafe sqlite3_column_type(statement, column) == SQLITE_BLOB else { return nil }
        let count = Int(unsafe sqlite3_column_bytes(statement, column))
        guard count > 0, let bytes = unsafe sqlite3_column_blob(statement, column) else {
            return unsafe UnsafeRawBufferPointer(start: nil, count: 0)
        }
        return unsafe UnsafeRawBufferPointer(start: bytes, count: count)
    }
}
