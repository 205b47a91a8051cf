// SPDX-License-Identifier: Apache-2.0
package import KeychainDatabase
package import KeychainLinuxSystem

/// Why a file from elsewhere gives no keychain.
package enum ForeignFileError: UInt8, Error {
    /// Not a keychain, or not whole.
    case damaged = 1
    case newerVersion = 2
    /// The disk, or the system, did not do what was asked of it.
    case unreadable = 3

    package init(_ error: any Error) {
        switch error {
        case let error as ForeignFileError: self = error
        case let error as DatabaseError where error.kind != .damaged: self = .unreadable
        default: self = .damaged
        }
    }
}

/// What comes of a keychain's file: its version first, then the rows of its tables.
package enum ForeignRecord: Sendable {
    case version(Int32)
    case row(KeychainTables.Table, [Value])
}

/// Reads keychain files from elsewhere, in whatever process.
package protocol ForeignReader: Sendable {
    /// Ends with the file's last row, or with a `ForeignFileError`, or with an error of the body's.
    func read(_ file: Descriptor, _ body: (ForeignRecord) throws -> Void) throws
}

/// Reads in the process that asks: for files of the very user whose process it is.
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

/// A keychain's file that anyone may have written, read through its descriptor alone. Nothing is
/// taken from it but the values of its tables; what its indexes and free pages hold is not looked at.
struct ForeignKeychain {
    let version: Int32
    private let database: Connection
    private let tables: [KeychainTables.Table]

    init(_ file: borrowing Descriptor) throws {
        // SQLite would fill up a last page that is not whole.
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
