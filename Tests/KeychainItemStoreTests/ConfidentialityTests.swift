// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import KeychainModel
import Testing

@testable import KeychainItemStore

/// What a thief of the file learns without a key.
@Suite struct ConfidentialityTests {
    private static let words = [
        "gitlab.example.org", "marie.curie", "Radium Institute", "polonium-210",
        "exe:/usr/bin/mail",
        "a private remark", "https-port", "client.example.net",
    ]

    private func filled() throws -> TestKeychain {
        let keychain = try TestKeychain()
        for accessible in Accessibility.allCases {
            var item = generic(
                "gitlab.example.org", "marie.curie \(accessible.code)",
                label: "Radium Institute", accessible: accessible)
            item.attributes[.comment] = .string("a private remark")
            item.attributes[.generic] = .data(Array("https-port".utf8))
            try keychain.add(item, "polonium-210")
        }
        try keychain.add(internet("client.example.net", "marie.curie"), "polonium-210")
        return keychain
    }

    private func expectNothingShown(_ keychain: TestKeychain) throws {
        for ending in ["", "-wal"] {
            let bytes = try rawBytes(keychain.path + ending)
            for word in Self.words {
                #expect(!bytes.contains(Array(word.utf8)), "\(word) in the file\(ending)")
                #expect(!bytes.contains(word.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }))
            }
            for name in ["svce", "acct", "labl", "gena", "srvr", "agrp", "icmt"] {
                #expect(!bytes.contains(Array(name.utf8)), "\(name) in the file\(ending)")
            }
        }
    }

    @Test func `file and log show no attribute, no name of one and no secret`() throws {
        let keychain = try filled()
        // The search itself finds what is there: the keybag's own words.
        #expect(try rawBytes(keychain.path).contains(Array("keybag".utf8)))
        try expectNothingShown(keychain)
        keychain.file.flush()
        try expectNothingShown(keychain)
    }

    @Test func `changed and deleted items leave nothing either`() throws {
        let keychain = try filled()
        var change = ItemChange()
        change.attributes[.label] = .string("gitlab.example.org")
        #expect(try keychain.update(query(), change, "polonium-210") == 7)
        #expect(try keychain.delete(query()) == 7)
        try expectNothingShown(keychain)
    }

    @Test func `equal items of two keychains have nothing in common`() throws {
        let first = try filled()
        let second = try filled()
        // Those of a class and an accessibility are as readable as the columns of both.
        let tokens = "SELECT token FROM token WHERE token NOT BETWEEN 0 AND 65535"
        let firsts = Set(try first.rows(tokens).map { $0[0] as Int64 })
        let seconds = Set(try second.rows(tokens).map { $0[0] as Int64 })
        #expect(firsts.isDisjoint(with: seconds))
        let keys = "SELECT keyIndex FROM item"
        let firstKeys = Set(try first.rows(keys).map { $0[0] as Data })
        #expect(firstKeys.isDisjoint(with: try second.rows(keys).map { $0[0] as Data }))
    }

    @Test func `equal secrets of two items have nothing in common`() throws {
        let keychain = try filled()
        let sealed = try keychain.rows("SELECT secret FROM item").map { [UInt8]($0[0] as Data) }
        #expect(Set(sealed.map { Array($0.suffix(16)) }).count == sealed.count)
        #expect(Set(sealed.map { Array($0.prefix(72)) }).count == sealed.count)
    }

    @Test func `a sealed secret's length tells its length to 32 bytes only`() throws {
        let keychain = try TestKeychain()
        let lengths = [0, 1, 20, 28, 29, 60]
        for length in lengths {
            try keychain.add(
                generic("mail", "\(length)"), String(repeating: "x", count: length))
        }
        let sealed = try keychain.rows("SELECT length(secret) FROM item ORDER BY id")
            .map { $0[0] as Int }
        #expect(Set(sealed[0...3]).count == 1)
        #expect(sealed[4] == sealed[3] + 32)
        #expect(sealed[5] == sealed[4])
    }

    @Test func `index entries of always items need another key than all others`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic("mail", "zoe", accessible: .always))
        let before = Set(try keychain.rows("SELECT token FROM token").map { $0[0] as Int64 })
        var change = ItemChange()
        change.accessible = .afterFirstUnlock
        try keychain.update(query(), change)
        let after = Set(try keychain.rows("SELECT token FROM token").map { $0[0] as Int64 })
        #expect(before.count == after.count)
        #expect(before.isDisjoint(with: after))
    }
}
