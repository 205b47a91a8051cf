// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import Testing

@testable import KeychainItemStore

/// The access groups of a keychain, as the only writer of its file remembers them.
@Suite struct `Names of groups` {
    private let keychain: TestKeychain

    init() throws { keychain = try TestKeychain() }

    private func names(_ state: TestKeychain.State = .unlocked) throws -> [String] {
        try keychain.file.groups(keychain.keys(state), isOnlyWriter: true)
    }

    @Test func `are remembered, also of what is gone`() throws {
        try keychain.add(generic("a"), group: "exe:/usr/bin/a")
        #expect(try names() == ["exe:/usr/bin/a"])
        try keychain.delete(query(), groups: ["exe:/usr/bin/a"])
        #expect(try names() == ["exe:/usr/bin/a"])
        #expect(try keychain.file.groups(keychain.keys()) == [])
    }

    @Test func `are known as soon as an item is added`() throws {
        #expect(try names() == [])
        try keychain.add(generic("a"), group: "exe:/usr/bin/a")
        #expect(try names() == ["exe:/usr/bin/a"])
        try keychain.add(generic("b"), group: "exe:/usr/bin/a")
        try keychain.add(generic("b"), group: "caf\u{E9}")
        try keychain.add(generic("b"), group: "cafe\u{301}")
        #expect(try names() == ["cafe\u{301}", "caf\u{E9}", "exe:/usr/bin/a"])
    }

    @Test func `are known as soon as an item is moved`() throws {
        try keychain.add(generic("a"))
        #expect(try names() == [TestKeychain.group])
        var change = ItemChange()
        change.accessGroup = "exe:/usr/bin/z"
        try keychain.update(query(), change)
        #expect(try names() == ["exe:/usr/bin/z"])
    }

    @Test func `are as long as a program's identity at most, and not told where they are too many`()
        throws
    {
        let most = AttributeRecord.longestGroup
        #expect(throws: KeychainStoreError.tooLarge) {
            try keychain.add(generic("a"), group: String(repeating: "g", count: most + 1))
        }
        func group(_ number: Int) -> String {
            "\(number)" + String(repeating: "g", count: most - "\(number)".count)
        }
        for number in 0..<2 { try keychain.add(generic("a"), group: group(number)) }
        #expect(try names().count == 2)
        for number in 2..<250 { try keychain.add(generic("a"), group: group(number)) }
        #expect(throws: KeychainStoreError.tooLarge) { try names() }
    }

    @Test func `are those of what can be read now`() throws {
        try keychain.add(generic("a"), group: "exe:/usr/bin/a")
        try keychain.add(generic("b", accessible: .afterFirstUnlock), group: "exe:/usr/bin/b")
        try keychain.add(generic("c", accessible: .always), group: "exe:/usr/bin/c")
        #expect(try names().count == 3)
        #expect(try names(.locked) == ["exe:/usr/bin/b", "exe:/usr/bin/c"])
        #expect(try names(.beforeFirstUnlock) == ["exe:/usr/bin/c"])
        #expect(try names().count == 3)
    }
}
