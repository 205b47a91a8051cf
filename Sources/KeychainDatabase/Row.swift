// SPDX-License-Identifier: Apache-2.0
internal import CKeychainSQLite

/// One row of a result, for as long as the closure that gets it runs.
///
/// A file may come from anywhere, so a column may hold any type: each reading is optional, nil for
/// NULL and for another type than the one that is asked for.
@safe package struct Row: ~Copyable {
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

    /// The bytes as they lie in SQLite's memory, for as long as the closure runs; nil for a column of
    /// another type.
    package borrowing func withBlob<R: ~Copyable, E: Error>(
        _ column: Int32, _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R? {
        // Safe: as in `blob`; the statement moves after the closure has returned.
        guard unsafe sqlite3_column_type(statement, column) == SQLITE_BLOB else { return nil }
        let count = Int(unsafe sqlite3_column_bytes(statement, column))
        guard count > 0, let bytes = unsafe sqlite3_column_blob(statement, column) else {
            return try body(RawSpan())
        }
        return try body(unsafe RawSpan(_unsafeStart: bytes, byteCount: count))
    }
}
