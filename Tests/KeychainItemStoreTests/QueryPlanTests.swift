// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainDatabase
import KeychainModel
import Testing

@testable import KeychainItemStore

/// The cost of a request must not grow with the number of items: no statement on its way scans.
@Suite struct QueryPlanTests {
    private func plan(_ sql: String, _ values: [Value]) throws -> [String] {
        try TestKeychain().file.reading { database in
            var steps: [String] = []
            try database.forEach("EXPLAIN QUERY PLAN " + sql, values) { row in
                steps.append(row.text(3) ?? "")
                return true
            }
            return steps
        }
    }

    private func expectNoScan(
        _ sql: String, _ values: [Value], besides harmless: [String] = []
    ) throws {
        let steps = try plan(sql, values)
        #expect(!steps.isEmpty)
        for step in steps where !harmless.contains(step) {
            #expect(!step.contains("SCAN ") || step == "SCAN CONSTANT ROW", "\(step) in \(sql)")
            #expect(!step.contains("TEMP B-TREE"), "\(step) in \(sql)")
        }
    }

    @Test func `looking up by account and service uses the index entries in their order`() throws {
        try expectNoScan(
            CandidateStream.following.text, [.integer(1), .integer(0), .integer(64)])
        try expectNoScan(CandidateStream.atLeast.text, [.integer(1), .integer(0)])
        let steps = try plan(
            CandidateStream.following.text, [.integer(1), .integer(0), .integer(64)])
        #expect(steps == ["SEARCH token USING PRIMARY KEY (token=? AND item>?)"])
    }

    @Test(arguments: [1, 2, 3, 8], [0, 1, 3])
    func `the look-ups of a search are merged as they lie, and never gathered first`(
        _ lookUps: Int, _ others: Int
    ) throws {
        let one: [Value] =
            [.integer(1), .integer(0)] + Array(repeating: .integer(2), count: others)
        let statement = MergedLookUps.statement(lookUps, others: others)
        let values = Array(repeating: one, count: lookUps).flatMap(\.self)
        // What is merged is taken as it comes, which is no scan of a table.
        let taken = ["CO-ROUTINE found", "SCAN found"]
        #expect(try plan(statement, values).filter(taken.contains) == taken)
        try expectNoScan(statement, values, besides: taken)
    }

    @Test func `an item of one entry is read with one statement`() throws {
        let keychain = try TestKeychain()
        let search = query(
            .genericPassword, [.service: .string("mail"), .account: .string("zoe")])
        let groups = [TestKeychain.group, "team"]
        #expect(SearchPlan(search, groups: groups, keychain.keys()).isOneStatement)
        // Whether a closed item is meant is another question, to be asked of the same moment.
        let closed = SearchPlan(search, groups: groups, keychain.keys(.beforeFirstUnlock))
        #expect(!closed.isOneStatement)
    }

    @Test func `rows, references, duplicates and index entries are reached by index`() throws {
        try expectNoScan("SELECT attributes FROM item WHERE id = ?", [.integer(1)])
        try expectNoScan(ItemRow.byRow.text, [.integer(1)])
        try expectNoScan(ItemRow.byIdentifier.text, [.blob([])])
        try expectNoScan("SELECT id FROM item WHERE keyIndex = ?", [.blob([])])
        try expectNoScan("SELECT 1 FROM token WHERE token = ?", [.integer(1)])
        try expectNoScan("SELECT tokens FROM item WHERE id = ?", [.integer(1)])
        try expectNoScan(
            "DELETE FROM token WHERE token = ? AND item = ?", [.integer(1), .integer(1)])
    }

    @Test func `account and service of one item are looked up under one entry`() throws {
        let wanted: Attributes = [.service: .string("mail"), .account: .string("zoe")]
        let terms = ItemClass.genericPassword.fewestTerms(of: wanted)
        #expect(terms.others.isEmpty)
        #expect(terms.first.values.map(\.0) == [.service, .account])
        #expect(terms.covered == [.service, .account])
    }

    @Test func `a whole uniqueness key touches no row but its own`() throws {
        let keychain = try TestKeychain()
        for port in 1...20 { try keychain.add(internet("example.org", "zoe", port: Int64(port))) }
        for number in 1...20 { try keychain.add(generic("mail", "\(number)")) }
        var attributes = try keychain.find(query(.internetPassword))[7].attributes
        attributes[.accessGroup] = nil
        attributes[.synchronizable] = nil
        let searches = [
            query(.internetPassword, attributes),
            query(.genericPassword, [.service: .string("mail"), .account: .string("7")]),
        ]
        for search in searches {
            let plan = SearchPlan(search, groups: [TestKeychain.group], keychain.keys())
            let touched = try keychain.file.reading { database in
                var candidates = try plan.candidates(after: 0, database)
                var rows: [Int64] = []
                while let row = try candidates.next(database) { rows.append(row) }
                return rows
            }
            #expect(touched.count == 1)
        }
    }

    @Test func `two values without an entry together are both looked up`() throws {
        let keychain = try TestKeychain()
        for number in 1...20 {
            try keychain.add(generic("mail", "\(number)", label: number == 9 ? "L" : "M"))
        }
        let search = query(.genericPassword, [.service: .string("mail"), .label: .string("L")])
        let plan = SearchPlan(search, groups: [TestKeychain.group], keychain.keys())
        #expect(plan.lookUps.allSatisfy { $0.tokens.count == 2 })
        let touched = try keychain.file.reading { database in
            var candidates = try plan.candidates(after: 0, database)
            var rows: [Int64] = []
            while let row = try candidates.next(database) { rows.append(row) }
            return rows
        }
        #expect(touched == [9])
    }
}
