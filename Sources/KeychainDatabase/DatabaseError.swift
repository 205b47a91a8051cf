// SPDX-License-Identifier: Apache-2.0
internal import CKeychainSQLite

/// A result code of SQLite's. Its message is dropped, since it may quote a statement.
package struct DatabaseError: Error, Equatable, Sendable {
    /// The extended code; its low byte is the primary one (sqlite.org/rescode.html).
    package let code: Int32

    package init(code: Int32) { self.code = code }

    package enum Kind: Sendable {
        /// The file is no database, or not as SQLite left it; it holds a longer value than any that
        /// is written; or a statement does not fit its schema.
        case damaged
        case full
        case readOnly
        case busy
        case outOfMemory
        case inputOutput
    }

    package var kind: Kind {
        switch code & 0xff {
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR, SQLITE_MISMATCH, SQLITE_FORMAT,
            SQLITE_TOOBIG, SQLITE_CONSTRAINT:
            .damaged
        case SQLITE_FULL: .full
        case SQLITE_READONLY, SQLITE_PERM: .readOnly
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: .busy
        case SQLITE_NOMEM: .outOfMemory
        default: .inputOutput
        }
    }

    /// Whether the disk could not read a part of the file: SQLITE_IOERR_READ, SQLITE_IOERR_SHORT_READ
    /// or SQLITE_IOERR_CORRUPTFS, whose macros Swift does not import.
    package var isOfReading: Bool {
        code & 0xff == SQLITE_IOERR && [1, 2, 33].contains(code >> 8)
    }

    /// A column holds another type than the one that every writer of the file stores.
    package static let wrongType = DatabaseError(code: SQLITE_MISMATCH)

    /// Rows come in another order than the statement asks for.
    package static let wrongOrder = DatabaseError(code: SQLITE_CORRUPT)

    /// Others held the file, or its connections, for longer than the call may wait.
    static let busy = DatabaseError(code: SQLITE_BUSY)
}
