// SPDX-License-Identifier: Apache-2.0
internal import KeychainDatabase
internal import KeychainModel

/// The items of a search, in the order in which they were added.
extension SearchPlan {
    struct Step {
        let row: Int64
        let item: SealedItem
        let sealedBytes: Int
    }

    /// All that the search reads is one statement, which is of one moment by itself.
    var isOneStatement: Bool { statement != nil && closed.isEmpty }

    /// Runs `body` with each item that is meant, from behind the given row, until it returns false.
    /// What is damaged is passed over and noted. `waits`: whether to wait for an item's memory.
    func forEachItem(
        after row: Int64, _ file: KeychainFile, _ keys: borrowing ClassKeys,
        _ database: Connection, waits: () -> Bool = { true }, _ body: (Step) throws -> Bool
    ) throws {
        try forEachRow(after: row, file, keys, database, waits) { found in
            switch found.opened {
            case .item(let item):
                guard matcher.matches(item.record, item.reference) else { return true }
                return try body(
                    Step(row: found.row, item: item, sealedBytes: found.sealedBytes))
            case .corrupt: file.noteCorrupt(found.row)
            case .locked:
                if try proposes(found, database) { throw KeychainStoreError.locked }
            }
            return true
        }
    }

    private func forEachRow(
        after row: Int64, _ file: KeychainFile, _ keys: borrowing ClassKeys,
        _ database: Connection, _ waits: () -> Bool, _ body: (ItemRow) throws -> Bool
    ) throws {
        if let statement {
            var last = row
            try database.forEach(statement, values(after: row)) { row in
                let found = try ItemRow(
                    row, file, keys, database, for: matcher, waits: waits())
                // In a file from elsewhere two entries may name one item.
                guard found.row > last else { return true }
                last = found.row
                return try body(found)
            }
            return
        }
        var candidates = try candidates(after: row, database)
        while let row = try candidates.next(database) {
            let found = try ItemRow.fetch(
                row, file, keys, database, for: matcher, waits: waits())
            if let found, try !body(found) { return }
        }
    }

    /// nil where the look-ups are too many for one, or there are none.
    private var statement: Query? {
        guard query.references == nil, let others = lookUps.first?.others else { return nil }
        return MergedLookUps.query(lookUps.count, others: others.count)
    }

    private func values(after row: Int64) -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(lookUps.reduce(0) { $0 + 2 + $1.others.count })
        for lookUp in lookUps {
            values.append(.integer(lookUp.first))
            values.append(.integer(row))
            for token in lookUp.others { values.append(.integer(token)) }
        }
        return values
    }
}

/// The statements for a few look-ups: each entry joined with its item, the entries of all look-ups in
/// the order of their items. They lie in that order, so that SQLite merges them as it goes on and makes
/// no list of them first.
enum MergedLookUps {
    private static let most = 8
    private static let mostOthers = 3
    private static let queries = (1...most).map { lookUps in
        (0...mostOthers).map { Query(statement(lookUps, others: $0)) }
    }

    /// nil beyond what most searches need.
    static func query(_ lookUps: Int, others: Int) -> Query? {
        guard (1...most).contains(lookUps), (0...mostOthers).contains(others) else { return nil }
        return queries[lookUps - 1][others]
    }

    static func statement(_ lookUps: Int, others: Int) -> String {
        let one = """
            SELECT token.item, \(ItemRow.columns) FROM token \
            CROSS JOIN item ON item.id = token.item \
            WHERE token.token = ? AND token.item > ?\(CandidateStream.also(others))
            """
        return Array(repeating: one, count: lookUps).joined(separator: " UNION ALL ")
            + " ORDER BY 1"
    }
}
