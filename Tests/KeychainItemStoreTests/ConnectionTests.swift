// SPDX-License-Identifier: Apache-2.0
import KeychainDatabase
import KeychainModel
import KeychainRows
import Testing

@testable import KeychainItemStore

/// What every connection to a keychain's file is told before anything is read from it.
@Suite struct ConnectionTests {
    private let keychain: TestKeychain

    init() throws { keychain = try TestKeychain() }

    /// Of the connection that writes, of one that reads, and of one to a file from elsewhere.
    private func settings(_ name: String) throws -> [Int64?] {
        let ask = { (connection: Connection) in try number("PRAGMA \(name)", connection) }
        let foreign = try KeychainSchema.connect(keychain.path, .writing)
        return [try keychain.file.writing(ask), try keychain.file.reading(ask), try ask(foreign)]
    }

    @Test func `a schema is not trusted to call functions that have effects`() throws {
        #expect(try settings("trusted_schema") == [0, 0, 0])
    }

    @Test func `pages are looked through before their cells are believed`() throws {
        #expect(try settings("cell_size_check") == [1, 1, 1])
    }

    @Test func `no keychain grows beyond 8 GiB`() throws {
        #expect(try settings("max_page_count").allSatisfy { $0 == 2_097_152 })
        #expect(try settings("page_size") == [4096, 4096, 4096])
    }

    @Test func `what is deleted is overwritten`() throws {
        #expect(try settings("secure_delete") == [1, 1, 1])
    }

    @Test func `a value longer than any of ours is not read, whatever table it lies in`() throws {
        let length = KeychainTables.largestRecord + 1
        try keychain.tamper(
            "INSERT INTO keybag VALUES (replace(hex(zeroblob(\(length / 2 + 1))), '0', 'a'), x'')")
        let foreign = try KeychainSchema.connect(keychain.path, .writing)
        // To measure a text SQLite has to read it.
        #expect(throws: DatabaseError.self) {
            try number("SELECT max(length(name)) FROM keybag", foreign)
        }
        #expect(throws: KeychainStoreError.damaged) { _ = try keychain.file.protectors() }
        let copy = keychain.folder + "/copy"
        #expect(throws: KeychainStoreError.damaged) {
            try KeychainCopy.make(of: keychain.path, at: copy)
        }
    }
}
