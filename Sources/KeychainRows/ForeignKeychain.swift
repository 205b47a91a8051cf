// SPDX-License-Identifier: Apache-2.0
package import KeychainDatabase
package import KeychainLinuxSystem

/// Why a foreign file can't be read as a keychain.
package enum ForeignFileError: UInt8, Error {
    /// The file is no keychain, or not complete.
    case damaged = 1
    case newerVersion = 2
    /// The disk or the system failed.
    case unreadable = 3

    package init(_ error: any Error) {
        switch error {
        case let error as ForeignFileError: self = error
        case let error as DatabaseError where error.kind != .damaged: self = .unreadable
        default: self = .damaged
        }
    }
}

/// A record of a keychain's file: its version first, then the rows of its tables.
package enum ForeignRecord: Sendable {
    case version(Int32)
    case row(KeychainTables.Table, [Value])
}

/// Reads foreign keychain files, in the reader's choice of process.
package protocol ForeignReader: Sendable {
    /// Ends with the file's last row, with a `ForeignFileError`, or with an error of the body's.
    func read(_ file: Descriptor, _ body: (ForeignRecord) throws -> Void) throws
}

/// Reads in the calling process: only for files of the user whose process it is.
package struct OwnProcessReader: ForeignReader {
    package init() {}

    package func read(_ file: Descriptor, _ body: (ForeignRecord) throws -> Void) throws {
        let keychain = try ForeignKeychain(file)
        try body(.version(keychain.version))
        try keychain.forEach { table, row in
            try body(.row(table, table.columns.indices.map { row.value(Int32($0)) }))
        }
    }
}

/// A keychain's file that any user may have written, read through its descriptor alone. Only the
/// values of its tables are used; its indexes and free pages are not read.
struct ForeignKeychain {
    let version: Int32
    private let database: Connection
    private let tables: [KeychainTables.Table]

    init(_ file: borrowing Descriptor) throws {
        // SQLite would fill up an incomplete last page.
        let size = try file.size()
        guard size > 0, size % UInt64(KeychainTables.pageBytes) == 0 else {
            throw ForeignFileError.damaged
        }
        database = try Connection(readingForeign: file.number)
        database.refuseValues(longerThan: KeychainTables.largestRecord)
        version = try KeychainTables.knownVersion(database)
        tables = try KeychainTables.tables(ofVersion: version)
        guard try KeychainTables.isHarmless(database, version: version) else {
            throw ForeignFileError.damaged
        }
    }

    func forEach(_ body: (KeychainTables.Table, borrowing Row) throws -> Void) throws {
        for table in tables {
            try database.forEach(table.selection) { row in
                try body(table, row)
                return true
            }
        }
    }
}
