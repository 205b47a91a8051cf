// SPDX-License-Identifier: Apache-2.0
import GRDB
import KeychainModel
import Testing

@testable import KeychainStore

/// What the disk says, as the store's words.
@Suite struct DiskErrorTests {
    @Test(arguments: [
        (ResultCode.SQLITE_FULL, KeychainStoreError.diskFull), (.SQLITE_READONLY, .readOnly),
        (.SQLITE_CORRUPT, .damaged), (.SQLITE_NOTADB, .damaged), (.SQLITE_BUSY, .busy),
        (.SQLITE_BUSY_RECOVERY, .busy), (.SQLITE_NOMEM, .outOfMemory),
        (.SQLITE_IOERR_FSYNC, .inputOutput(1034)), (.SQLITE_CANTOPEN, .inputOutput(14)),
        (.SQLITE_CORRUPT_VTAB, .damaged), (.SQLITE_READONLY_DBMOVED, .readOnly),
    ])
    func `a result code has one word`(_ code: ResultCode, _ expected: KeychainStoreError) {
        #expect(KeychainStoreError(DatabaseError(resultCode: code)) == expected)
    }

    @Test func `on a full disk an item is refused and the others stay`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic("mail", "one"), "kept")
        let pages = try keychain.file.writing { database in
            let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
            try database.execute(sql: "PRAGMA max_page_count = \(pages)")
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
