// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainDatabase
import KeychainLinuxSystem
import KeychainModel
import KeychainRows
import Testing

@testable import KeychainItemStore

/// Keychain files from elsewhere: what is read of them, and what is taken from the process that reads
/// them. Hostile ones are in `Tests/System/test_foreign_files.py`.
@Suite struct ForeignFileTests {
    private let keychain: TestKeychain
    private var copy: String { keychain.folder + "/copy" }

    init() throws {
        keychain = try TestKeychain()
        for number in 0..<20 { try keychain.add(generic("mail", "account \(number)")) }
        try KeychainCopy.make(of: keychain.path, at: copy)
    }

    private func patch(_ path: String, at offset: Int, _ bytes: [UInt8]) throws {
        var content = try rawBytes(path)
        content.replaceSubrange(offset..<(offset + bytes.count), with: bytes)
        try Data(content).write(to: URL(fileURLWithPath: path))
    }

    @Test(arguments: ["sqlite_autoindex_item_1", "sqlite_autoindex_item_2"])
    func `an index is not believed but made anew`(_ index: String) throws {
        var root: Int64 = 0
        try edit(copy) { database in
            root = try #require(
                try number(
                    "SELECT rootpage FROM sqlite_schema WHERE name = '\(index)'", database))
        }
        // An empty page of an index.
        try patch(copy, at: (Int(root) - 1) * 4096, [10, 0, 0, 0, 0, 0x10, 0, 0])
        _ = try ReturningKeychain(
            copy, owner: TestKeychain.owner, deviceKey: keychain.deviceKey
        ).replace(keychain.file)
        #expect(try keychain.find(query()).count == 20)
        #expect(try keychain.file.check(repair: false, keys: keychain.keys()).isClean)
    }

    @Test func `a file that says that it has a log is read without one`() throws {
        try patch(copy, at: 18, [2, 2])
        let log = copy + "-wal"
        try Data(repeating: 7, count: 8192).write(to: URL(fileURLWithPath: log))
        let returning = try ReturningKeychain(
            copy, owner: TestKeychain.owner, deviceKey: keychain.deviceKey)
        #expect(returning.setAside == 0)
        #expect(try rawBytes(log) == [UInt8](repeating: 7, count: 8192))
    }

    @Test func `a connection to a foreign file writes nothing and runs nothing of it`() throws {
        try edit(copy) { try $0.execute("CREATE VIEW spy AS SELECT 1") }
        let before = try rawBytes(copy)
        let file = try Descriptor.reading(copy)
        let connection = try Connection(readingForeign: file.number)
        #expect(try number("PRAGMA trusted_schema", connection) == 0)
        #expect(try number("PRAGMA query_only", connection) == 1)
        #expect(try number("PRAGMA cell_size_check", connection) == 1)
        #expect(try connection.count("item") == 20)
        for statement in [
            "SELECT * FROM spy", "CREATE TABLE other (x)", "DELETE FROM item",
            "PRAGMA user_version = 9", "ATTACH '\(copy)' AS other",
        ] {
            _ = try? connection.execute(statement)
        }
        #expect(throws: DatabaseError.self) { try connection.execute("SELECT * FROM spy") }
        #expect(throws: DatabaseError.self) { try connection.execute("DELETE FROM item") }
        #expect(try rawBytes(copy) == before)
    }

    /// Says what a process that a file has taken over may say.
    private struct Liar: ForeignReader {
        let bytes: [UInt8]

        func read(_ file: Descriptor, _ body: (ForeignRecord) throws -> Void) throws {
            let pipe = try Descriptor.pipe()
            try pipe.writing.write(bytes)
            let input = DescriptorInput(
                pipe.reading, atMost: .max, until: .now + .milliseconds(200))
            try RowReader(from: input).forEach(body)
        }
    }

    @Test(arguments: [
        "a-longer-blob-than-any", "a-number-for-a-text", "a-row-twice",
        "a-table-of-a-later-version", "a-table-of-no-version", "a-text-for-a-number",
        "end-before-the-version", "end-damaged", "end-unknown", "no-rows", "no-utf8",
        "null-where-none-may-be", "row-before-the-version", "version-0", "version-5",
        "version-twice", "whole-and-a-row-twice", "longest-length", "cut-in-a-value",
        "without-its-end",
    ])
    func `rows that are in no keychain do not come back, and leave no row behind`(
        _ name: String
    ) throws {
        let corpus = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../Fuzz/corpus/keychain-rows/\(name)")
        let liar = Liar(bytes: [UInt8](try Data(contentsOf: corpus)))
        let path = keychain.folder + "/returning"
        do {
            _ = try ReturningKeychain(
                from: .reading(copy), through: liar, at: path, owner: TestKeychain.owner,
                deviceKey: keychain.deviceKey)
            Issue.record("it came back")
        } catch {}
        // One without rows has been made, and is no keychain.
        if name != "no-rows" { #expect((try? rawBytes(path)) ?? [] == []) }
    }
}
