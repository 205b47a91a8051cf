// SPDX-License-Identifier: Apache-2.0
internal import CKeychainSQLite

/// A value that a statement is given.
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

    /// Runs the statement; `body` sees each row until it returns false. Afterwards the statement is
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
        // An empty array has no address, and no address would be NULL.
        case .blob(let bytes) where bytes.isEmpty:
            return unsafe sqlite3_bind_zeroblob(handle, place, 0)
        case .blob(let bytes):
            return unsafe sqlite3_bind_blob64(
                handle, place, bytes, UInt64(bytes.count), copied)
        case .null: return unsafe sqlite3_bind_null(handle, place)
        }
    }
}
