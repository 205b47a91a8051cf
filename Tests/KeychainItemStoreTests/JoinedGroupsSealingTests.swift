// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import KeychainSecrets
import Testing

@testable import KeychainItemStore

/// Joined groups in the file: who can read them there, and who can write them.
@Suite struct JoinedGroupsSealingTests {
    private static let program = TrustedApplication(
        "exe:/usr/bin/new", strength: .rootsFile, listedBy: nil, listedAt: 7)
    private static let group = "exe:/usr/bin/old"

    private static var joined: JoinedGroups {
        var groups = JoinedGroups()
        groups.add(program, to: group)
        return groups
    }

    private func keychain() throws -> TestKeychain {
        let keychain = try TestKeychain()
        try join(keychain)
        return keychain
    }

    private func join(_ keychain: TestKeychain, _ group: String = Self.group) throws {
        let keys = keychain.keys()
        let isChanged = try keychain.file.changeJoinedGroups(keys) {
            $0.add(Self.program, to: group)
            return true
        }
        #expect(isChanged)
    }

    private func read(
        _ keychain: TestKeychain, _ state: TestKeychain.State = .unlocked
    ) throws -> JoinedGroups {
        let keys = keychain.keys(state)
        return try keychain.file.joinedGroups(keys)
    }

    private func put(_ value: [UInt8], into keychain: TestKeychain) throws {
        try keychain.file.writing { try Keybag.write(.joined, value, $0) }
    }

    @Test func `a keychain without them has none, in whatever state`() throws {
        let keychain = try TestKeychain()
        for state in [TestKeychain.State.unlocked, .locked, .beforeFirstUnlock] {
            #expect(try read(keychain, state) == JoinedGroups())
        }
    }

    @Test func `what was written is known to another who opens the file, and while it is locked`()
        throws
    {
        let keychain = try keychain()
        #expect(try read(keychain) == Self.joined)
        #expect(try read(keychain, .locked) == Self.joined)
        let again = try KeychainFile.open(at: keychain.path, owner: TestKeychain.owner)
        let keys = keychain.keys(.locked)
        #expect(try again.joinedGroups(keys) == Self.joined)
    }

    @Test func `before the first unlock none is told`() throws {
        let keychain = try keychain()
        #expect(throws: KeychainStoreError.locked) { _ = try read(keychain, .beforeFirstUnlock) }
    }

    @Test(arguments: [TestKeychain.State.locked, .beforeFirstUnlock])
    func `a locked keychain takes none`(_ state: TestKeychain.State) throws {
        let keychain = try keychain()
        #expect(throws: KeychainStoreError.locked) {
            let keys = keychain.keys(state)
            _ = try keychain.file.changeJoinedGroups(keys) { _ in true }
        }
        #expect(try read(keychain) == Self.joined)
    }

    @Test func `a change that changes nothing writes nothing`() throws {
        let keychain = try keychain()
        let before = try keychain.file.keybag()[.joined]
        let keys = keychain.keys()
        #expect(try !keychain.file.changeJoinedGroups(keys) { $0.remove("exe:/x", from: "y") })
        #expect(try keychain.file.keybag()[.joined] == before)
    }

    @Test func `names of programs and groups are not in clear`() throws {
        let keychain = try keychain()
        let value = try #require(try keychain.file.keybag()[.joined])
        let text = String(decoding: value, as: UTF8.self)
        #expect(!text.contains("/usr/bin"))
    }

    @Test func `a bit that was changed anywhere makes it worthless`() throws {
        let keychain = try keychain()
        let value = try #require(try keychain.file.keybag()[.joined])
        for position in stride(from: 0, to: value.count, by: 5) {
            var changed = value
            changed[position] ^= 4
            try put(changed, into: keychain)
            #expect(throws: KeychainStoreError.damaged) { _ = try read(keychain) }
        }
        try put(Array(value.dropLast()), into: keychain)
        #expect(throws: KeychainStoreError.damaged) { _ = try read(keychain) }
    }

    @Test func `what a program without the key writes is worthless`() throws {
        let keychain = try TestKeychain()
        let forged = try Self.joined.encoded()
        try put(forged, into: keychain)
        #expect(throws: KeychainStoreError.damaged) { _ = try read(keychain) }
        let key = SealingKey.random()
        let wrapped = keychain.file.wrap.seal(
            SecretBytes(copying: forged), for: .joined, under: key)
        try put(wrapped, into: keychain)
        #expect(throws: KeychainStoreError.damaged) { _ = try read(keychain) }
    }

    @Test func `another keychain's is worthless, and so is another entry's`() throws {
        let (one, other) = (try keychain(), try TestKeychain())
        let moved = try #require(try one.file.keybag()[.joined])
        try put(moved, into: other)
        #expect(throws: KeychainStoreError.damaged) { _ = try read(other) }
        let keys = try #require(try one.file.keybag()[.afterFirstUnlock])
        try put(keys, into: one)
        #expect(throws: KeychainStoreError.damaged) { _ = try read(one) }
    }

    @Test func `a worthless entry gives way to the next change`() throws {
        let keychain = try TestKeychain()
        try put([1, 2, 3], into: keychain)
        try join(keychain)
        #expect(try read(keychain) == Self.joined)
    }

    @Test func `of too many none is written`() throws {
        let keychain = try TestKeychain()
        for number in 0..<JoinedGroups.mostGroups { try join(keychain, "exe:/\(number)") }
        #expect(throws: KeychainStoreError.tooLarge) { try join(keychain, "exe:/more") }
        #expect(try read(keychain).groups.count == JoinedGroups.mostGroups)
        let long = try TestKeychain()
        let name = String(repeating: "a", count: JoinedGroups.longestName)
        for number in 0..<14 { try join(long, "\(number)" + name.dropLast(2)) }
        #expect(throws: KeychainStoreError.tooLarge) { try join(long, "x" + name.dropLast(2)) }
    }

    @Test func `a copy brings back those of its time`() throws {
        let keychain = try keychain()
        let copy = keychain.folder + "/copy"
        try KeychainCopy.make(of: keychain.path, at: copy)
        let keys = keychain.keys()
        _ = try keychain.file.changeJoinedGroups(keys) {
            $0.remove(Self.program.identity, from: Self.group)
        }
        #expect(try read(keychain) == JoinedGroups())
        _ = try ReturningKeychain(copy, owner: TestKeychain.owner, deviceKey: keychain.deviceKey)
            .replace(keychain.file)
        #expect(try read(keychain) == Self.joined)
    }

    // MARK: Bytes

    @Test func `there is one encoding, and what is read is written so again`() throws {
        let bytes = try Self.joined.encoded()
        #expect(try JoinedGroups(decoding: bytes) == Self.joined)
        #expect(throws: MalformedBytes.self) { try JoinedGroups(decoding: bytes + [0]) }
        for length in 0..<bytes.count {
            #expect(throws: MalformedBytes.self) {
                try JoinedGroups(decoding: Array(bytes.prefix(length)))
            }
        }
        // Another version, and a group twice.
        #expect(throws: MalformedBytes.self) {
            try JoinedGroups(decoding: [2] + bytes.dropFirst())
        }
        #expect(throws: MalformedBytes.self) {
            try JoinedGroups(decoding: [1, 2] + bytes.dropFirst(2) + bytes.dropFirst(2))
        }
        // A group that no program joined.
        #expect(throws: MalformedBytes.self) {
            try JoinedGroups(decoding: [1, 1, 1, 0, 0, 0, 97, 1, 0, 0, 0, 0])
        }
    }
}
