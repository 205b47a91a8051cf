// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import Synchronization
import Testing

@testable import KeychainItemStore

/// Large attributes are read only where there is room for them.
@Suite struct RecordMemoryTests {
    /// Room for the attributes of so many items at a time.
    private final class Rooms: RecordMemory {
        private let left: Mutex<Int>
        let waits = Mutex<[Bool]>([])

        init(_ count: Int) { left = Mutex(count) }

        private final class Room: Sendable {
            private let rooms: Rooms
            init(_ rooms: Rooms) { self.rooms = rooms }
            deinit { rooms.left.withLock { $0 += 1 } }
        }

        func takeAttributes(
            _ bytes: Int, waits: Bool
        ) throws(KeychainStoreError) -> (any AnyObject & Sendable)? {
            self.waits.withLock { $0.append(waits) }
            try left.withLock { left throws(KeychainStoreError) in
                guard left > 0 else { throw .noRoom }
                left -= 1
            }
            return Room(self)
        }

        func takeSecret(_ bytes: Int) throws(KeychainStoreError) -> (any AnyObject & Sendable)? {
            nil
        }
    }

    private let keychain: TestKeychain

    init() throws {
        keychain = try TestKeychain()
        for account in ["a", "b", "c"] {
            var item = generic("mail", account)
            item.attributes[.comment] = .data([UInt8](repeating: 1, count: 40_000))
            try keychain.add(item)
        }
    }

    private func file(_ rooms: Rooms) throws -> KeychainFile {
        try KeychainFile.open(at: keychain.path, owner: TestKeychain.owner, memory: rooms)
    }

    @Test func `a search without room for two goes through all, one by one`() throws {
        let file = try file(Rooms(1))
        for limit in [nil, 3] as [Int?] {
            var query = query()
            query.limit = limit
            var found: [String] = []
            try file.forEach(query, groups: [TestKeychain.group], keys: keychain.keys()) { item in
                found.append(item.account)
                return true
            }
            #expect(found == ["a", "b", "c"])
        }
    }

    @Test func `a search waits for room only with nothing in its hands`() throws {
        let rooms = Rooms(1)
        let file = try file(rooms)
        try file.forEach(query(), groups: [TestKeychain.group], keys: keychain.keys()) { _ in true }
        #expect(rooms.waits.withLock { $0 } == [true, false, true, false, true])
    }

    @Test func `items that are kept keep their room`() throws {
        let file = try file(Rooms(2))
        #expect(throws: KeychainStoreError.noRoom) {
            try file.find(query(), groups: [TestKeychain.group], keys: keychain.keys())
        }
        var kept: [SealedItem] = []
        #expect(throws: KeychainStoreError.noRoom) {
            try file.forEach(query(), groups: [TestKeychain.group], keys: keychain.keys()) { item in
                kept.append(item)
                return true
            }
        }
        #expect(kept.count == 2)
        kept = []
        var two = query()
        two.limit = 2
        let found = try file.find(two, groups: [TestKeychain.group], keys: keychain.keys())
        #expect(found.count == 2)
    }

    @Test func `a search for few gives up where they are large`() throws {
        let file = try file(Rooms(3))
        let matcher = ItemMatcher(query: query(), scope: .groups([TestKeychain.group]))
        let keys = keychain.keys()
        #expect(
            try file.find(matcher, keys: keys, atMost: .max, mostBytes: 200_000)?.count == 3)
        #expect(
            try file.find(matcher, keys: keys, atMost: .max, mostBytes: 90_000)?.count == nil)
    }
}
