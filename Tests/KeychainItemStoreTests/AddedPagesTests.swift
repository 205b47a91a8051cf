// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainModel
import Testing

@testable import KeychainItemStore

/// What a new item costs the disk, and a search with many look-ups.
@Suite struct AddedPagesTests {
    /// Each page that is written to the log is one of 4096 bytes behind a header of 24.
    private func writtenPages(_ keychain: TestKeychain, _ body: () throws -> Void) throws -> Int {
        func bytes() throws -> Int {
            let facts = try FileManager.default.attributesOfItem(atPath: keychain.path + "-wal")
            return (facts[.size] as? NSNumber)?.intValue ?? 0
        }
        let before = try bytes()
        try body()
        return try (bytes() - before) / (4096 + 24)
    }

    /// The page of the row, that of the index, and one each for the two values that no other item may
    /// have. Where a page is full there are more.
    @Test func `a new item of a small keychain is four pages`() throws {
        let keychain = try TestKeychain()
        for number in 0..<3 { try keychain.add(generic("mail", "account \(number)")) }
        let pages = try (10..<16).map { number in
            try writtenPages(keychain) { try keychain.add(generic("mail", "\(number)")) }
        }
        #expect(pages.min() == 4)
    }

    @Test func `a search in many groups finds in the order in which items were added`() throws {
        let keychain = try TestKeychain()
        let groups = (0..<12).map { "group \($0)" }
        for number in 0..<36 {
            try keychain.add(
                generic("mail", "\(number)"), group: groups[number * 7 % groups.count])
        }
        let accounts = (0..<36).map { "\($0)" }
        #expect(try keychain.find(query(), groups: groups).map(\.account) == accounts)
        for few in [Array(groups[2...3]), Array(groups[0...8])] {
            let found = try keychain.find(query(), groups: few).map(\.account)
            let wanted = (0..<36).filter { few.contains(groups[$0 * 7 % groups.count]) }
            #expect(found == wanted.map { "\($0)" })
        }
    }

    @Test func `a group that is named twice, or an entry that is doubled, gives an item once`()
        throws
    {
        let keychain = try TestKeychain()
        try keychain.add(generic("mail", "zoe"))
        let twice = [TestKeychain.group, TestKeychain.group]
        #expect(try keychain.find(query(), groups: twice).count == 1)
    }

    @Test func `a place is looked up once, however often its group is named`() throws {
        let keychain = try TestKeychain()
        var query = query()
        for (groups, count) in [(["a"], 2), (["a", "a"], 2), (["a", "b", "a", "b", "b"], 4)] {
            query.synchronizable = .no
            #expect(
                SearchPlan(query, groups: groups, keychain.keys(.unlocked)).lookUps.count == count)
            #expect(
                SearchPlan(query, groups: groups, keychain.keys(.beforeFirstUnlock)).lookUps.count
                    == count / 2)
            query.synchronizable = .any
            #expect(
                SearchPlan(query, groups: groups, keychain.keys(.unlocked)).lookUps.count
                    == count * 2)
        }
    }

    @Test(arguments: ItemClass.allCases)
    func `each attribute with an index entry has a rule in its class`(itemClass: ItemClass) {
        for name in itemClass.searchable + itemClass.combinations.flatMap(\.self) {
            #expect(itemClass.rule(for: name) != nil, "\(name)")
        }
    }
}
