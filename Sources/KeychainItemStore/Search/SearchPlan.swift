// SPDX-License-Identifier: Apache-2.0
internal import KeychainDatabase
internal import KeychainModel

/// How the items of a query are looked up: the index entries to read, with the keys available now.
struct SearchPlan {
    /// Entries that one item must all have, the most selective first.
    struct LookUp {
        let family: IndexFamily
        let first: Int64
        let others: [Int64]

        var tokens: [Int64] { [first] + others }
    }

    let matcher: ItemMatcher
    private(set) var lookUps: [LookUp] = []
    /// Whether the index alone decides if an item matches, so that no item needs to be opened for
    /// that.
    let isCovered: Bool
    /// Families in which the query may have items, and whose index can't be read now.
    private(set) var closed: [IndexFamily] = []
    /// The search as one statement; nil where there are too many look-ups for one, or none.
    private var statement: Query?

    init(
        _ query: ItemQuery, groups: [String], _ keys: borrowing ClassKeys,
        whole isWhole: Bool = false
    ) {
        self.init(ItemMatcher(query: query, scope: .groups(groups)), keys, whole: isWhole)
    }

    /// `whole`: only items of the class `attributed` that have the query's pairs and no others.
    init(_ matcher: ItemMatcher, _ keys: borrowing ClassKeys, whole isWhole: Bool = false) {
        let exact =
            matcher.query.folding.isEmpty
            ? matcher.query.attributes
            : matcher.query.attributes.filter { matcher.isExact($0.value) }
        let fewest = matcher.query.itemClass.fewestTerms(of: exact)
        self.matcher = matcher
        isCovered =
            matcher.query.hostOrSubdomain == nil
            && matcher.query.attributes.count == fewest.covered.count
        let wanted = matcher.query.accessible.map(IndexFamily.init)
        lookUps.reserveCapacity(IndexFamily.all.count)
        // A query may name a group twice; most name one, and then there is nothing to compare.
        var seen: Set<Int64>?
        matcher.eachEntry(
            isWhole ? .whole(exact) : fewest.first, isWhole ? [] : fewest.others
        ) { message, others in
            if seen == nil, !lookUps.isEmpty { seen = Set(lookUps.map(\.first)) }
            for family in IndexFamily.all where wanted == nil || wanted == family {
                keys.withIndexKey(family) { key in
                    let first = BlindIndex.token(message, key)
                    guard seen?.insert(first).inserted ?? true else { return }
                    lookUps.append(
                        LookUp(
                            family: family, first: first,
                            others: others.map { BlindIndex.token($0, key) }))
                }
            }
        }
        for family in IndexFamily.all where wanted == nil || wanted == family {
            if keys.withIndexKey(family, { _ in }) == nil { closed.append(family) }
        }
        statement = mergedStatement
    }

    /// The rows after the given one that may match.
    func candidates(after row: Int64, _ database: Connection) throws -> CandidateStream {
        guard let references = matcher.query.references else {
            return CandidateStream(self, after: row)
        }
        let ofClass = references.filter { $0.itemClass == matcher.query.itemClass }
        let rows = try ItemRow.rows(ofClass, database)
        return CandidateStream(rows: rows.filter { $0 > row })
    }

    /// Whether an item that can't be opened may match, as far as can be told.
    func proposes(_ item: ItemRow, _ database: Connection) throws -> Bool {
        guard let accessible = item.context?.accessible,
            matcher.query.accessible.map({ $0 == accessible }) ?? true
        else { return false }
        if closed.contains(IndexFamily(accessible)) { return true }
        return try lookUps.contains { lookUp in
            try lookUp.tokens.allSatisfy { token in
                try ItemRow.isFound(item.row, under: token, database)
            }
        }
    }

    /// Whether a proposed item certainly matches, without opening it.
    func isKnown(_ item: ItemRow) -> Bool {
        guard let accessible = item.context?.accessible else { return false }
        return isCovered && !closed.contains(IndexFamily(accessible))
    }

    /// Throws `.locked` where the query may match items whose index can't be read. Items that are
    /// named by reference need no index.
    func refuseIfClosed(_ database: Connection) throws {
        guard matcher.query.references == nil, !closed.isEmpty else { return }
        let classes = matcher.query.accessible.map { [$0] } ?? Accessibility.allCases
        for accessible in classes where closed.contains(IndexFamily(accessible)) {
            if try ItemRow.exists(matcher.query.itemClass, accessible, database) {
                throw KeychainStoreError.locked
            }
        }
    }
}

extension ItemMatcher {
    /// Calls `body` with the messages of the index entries that one item must all have, the same for
    /// any family.
    fileprivate func eachEntry(
        _ first: IndexTerm, _ others: [IndexTerm],
        _ body: (_ first: [UInt8], _ others: [[UInt8]]) -> Void
    ) {
        scope.eachPlace { place in
            for isSynchronizable in query.synchronizable.values {
                let scope = BlindIndex.Scope(
                    itemClass: query.itemClass, place: place, isSynchronizable: isSynchronizable)
                body(
                    BlindIndex.message(first, scope),
                    others.map { BlindIndex.message($0, scope) })
            }
        }
    }
}

extension ItemQuery.Synchronizable {
    fileprivate var values: [Bool] {
        switch self {
        case .no: [false]
        case .yes: [true]
        case .any: [false, true]
        }
    }
}

/// The items of a search, in the order in which they were added.
extension SearchPlan {
    struct Step {
        let row: Int64
        let item: SealedItem
        let sealedBytes: Int
    }

    /// Whether the search is one statement, which is a snapshot by itself.
    var isOneStatement: Bool { statement != nil && closed.isEmpty }

    /// Runs `body` with each matching item after the given row, until it returns false. Damaged
    /// rows are passed over and noted. `waits`: whether to wait for an item's memory.
    func forEachItem(
        after row: Int64, _ file: KeychainFile, _ keys: borrowing ClassKeys,
        _ database: Connection, waits: () -> Bool = { true }, _ body: (Step) throws -> Bool
    ) throws {
        try forEachRow(after: row, file, keys, database, waits) { found in
            switch found.opened {
            case .item(let item):
                guard matcher.matches(item) else { return true }
                return try body(
                    Step(row: found.row, item: item, sealedBytes: found.sealedBytes))
            case .corrupt: file.noteCorrupt(found.row)
            case .locked:
                if try proposes(found, database) { throw KeychainStoreError.locked }
            }
            return true
        }
    }

    func forEachRow(
        after row: Int64, _ file: KeychainFile, _ keys: borrowing ClassKeys,
        _ database: Connection, _ waits: () -> Bool, _ body: (ItemRow) throws -> Bool
    ) throws {
        if let statement {
            var last = row
            try database.forEach(statement, values(after: row)) { row in
                let found = try ItemRow.read(
                    row, file, keys, database, for: matcher, waits: waits())
                // In a foreign file two entries may name one item.
                guard found.row != last else { return true }
                // A search that continues after a row out of order would pass over items.
                guard found.row > last else { throw DatabaseError.wrongOrder }
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

    private var mergedStatement: Query? {
        guard matcher.query.references == nil, let others = lookUps.first?.others else {
            return nil
        }
        // It is unknown which pair is the rarest, and so should come first: `CandidateStream` skips
        // through all lists instead.
        guard matcher.query.itemClass != .attributed || others.isEmpty else { return nil }
        return MergedLookUps.query(lookUps.count, others: others.count)
    }

    private func values(after row: Int64) -> [Value] {
        var values: [Value] = []
        // Each look-up has as many further entries as the first.
        values.reserveCapacity(lookUps.count * (2 + (lookUps.first?.others.count ?? 0)))
        for place in lookUps.indices {
            values.append(.integer(lookUps[place].first))
            values.append(.integer(row))
            for other in lookUps[place].others.indices {
                values.append(.integer(lookUps[place].others[other]))
            }
        }
        return values
    }
}

/// The statements for a few look-ups: all entries in the order of their items, each joined with its
/// item. The index has them in that order, so SQLite merges them as it goes and sorts nothing
/// beforehand. The `LIMIT` keeps SQLite from dropping the order.
enum MergedLookUps {
    private static let most = 8
    private static let mostOthers = 3
    private static let queries = (1...most).flatMap { lookUps in
        (0...mostOthers).map { Query(statement(lookUps, others: $0)) }
    }

    /// nil for more look-ups than most searches need.
    static func query(_ lookUps: Int, others: Int) -> Query? {
        guard (1...most).contains(lookUps), (0...mostOthers).contains(others) else { return nil }
        return queries[(lookUps - 1) * (mostOthers + 1) + others]
    }

    static func statement(_ lookUps: Int, others: Int) -> String {
        let one = """
            SELECT item FROM token WHERE token = ? AND item > ?\(CandidateStream.also(others))
            """
        let all = Array(repeating: one, count: lookUps).joined(separator: " UNION ALL ")
        return """
            SELECT found.item, \(ItemRow.columns) FROM (\(all) ORDER BY 1 LIMIT -1) AS found \
            CROSS JOIN item ON item.id = found.item
            """
    }
}
