// SPDX-License-Identifier: Apache-2.0
import KeychainDatabase
import KeychainModel
import Testing

@testable import KeychainItemStore

/// What the disk says, as the store's words.
@Suite struct DiskErrorTests {
    @Test(arguments: [
        // SQLITE_FULL, READONLY, CORRUPT, NOTADB, BUSY, BUSY_RECOVERY, NOMEM, IOERR_FSYNC, CANTOPEN,
        // CORRUPT_VTAB and READONLY_DBMOVED, by their numbers in sqlite3.h.
        (Int32(13), KeychainStoreError.diskFull), (8, .readOnly), (11, .damaged), (26, .damaged),
        (5, .busy), (261, .busy), (7, .outOfMemory), (1034, .inputOutput(1034)),
        (14, .inputOutput(14)), (267, .damaged), (1032, .readOnly),
    ])
    func `a result code has one word`(_ code: Int32, _ expected: KeychainStoreError) {
        #expect(KeychainStoreError(DatabaseError(code: code)) == expected)
    }

    @Test(arguments: [
        // IOERR_READ, IOERR_SHORT_READ and IOERR_CORRUPTFS; then IOERR_WRITE, IOERR_FSYNC, CANTOPEN.
        (KeychainStoreError.inputOutput(266), true), (.inputOutput(522), true),
        (.inputOutput(8458), true), (.damaged, true), (.inputOutput(778), false),
        (.inputOutput(1034), false), (.inputOutput(14), false), (.inputOutput(0), false),
        (.diskFull, false), (.readOnly, false), (.busy, false),
    ])
    func `a file that can't be read is told from a disk that can't be written`(
        _ error: KeychainStoreError, _ isOfUnreadableFile: Bool
    ) {
        #expect(error.isOfUnreadableFile == isOfUnreadableFile)
    }

    @Test func `on a full disk an item is refused and the others stay`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic("mail", "one"), "kept")
        let pages = try keychain.file.writing { database in
            let pages = try number("PRAGMA page_count", database) ?? 0
            try database.execute("PRAGMA max_page_count = \(pages)")
            return pages
        }
        #expect(pages > 0)
        #expect(throws: KeychainStoreError.diskFull) {
            try keychain.add(generic("mail", "two"), String(repeating: "x", count: 100_000))
        }
        let found = try keychain.find(query())
        #expect(found.map(\.account) == ["one"])
        #expect(try keychain.open(found[0]) == "kept")
        #expect(try keychain.rows("SELECT DISTINCT item FROM token").count == 1)
    }

    @Test func `an item that can't be written whole leaves no part of it`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic("mail", "one"))
        try keychain.tamper(
            """
            CREATE TRIGGER refuse BEFORE INSERT ON token
            BEGIN SELECT RAISE(ABORT, 'no'); END
            """)
        #expect(throws: KeychainStoreError.damaged) { try keychain.add(generic("mail", "two")) }
        #expect(try keychain.file.itemCount() == 1)
    }
}
