// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
internal import KeychainDatabase

extension KeychainFile {
    /// The most items of one step of a long search, and the most bytes of their sealed attributes.
    static let batchItems = 256
    static let batchBytes = 256 * 1024

    /// The items that match the query, with their attributes, in the order in which they were
    /// added; at most its limit. Items of other groups do not exist for the search.
    ///
    /// Throws `.locked` as soon as a matching item can't be read because its class key is missing.
    package func find(
        _ query: ItemQuery, groups: [String], keys: borrowing ClassKeys
    ) throws(KeychainStoreError) -> [SealedItem] {
        try find(query, in: .groups(groups), keys: keys)
    }

    /// Finds the items of any scope.
    package func find(
        _ query: ItemQuery, in scope: SearchScope, keys: borrowing ClassKeys
    ) throws(KeychainStoreError) -> [SealedItem] {
        try find(
            ItemMatcher(query: query, scope: scope), keys: keys, atMost: query.limit ?? .max,
            mostBytes: .max) ?? []
    }

    /// Finds at most `limit` items, in place of the query's limit. Returns nil where their sealed
    /// attributes have more than `mostBytes` bytes.
    package func find(
        _ matcher: ItemMatcher, keys: borrowing ClassKeys, atMost limit: Int, mostBytes: Int
    ) throws(KeychainStoreError) -> [SealedItem]? {
        guard limit > 0 else { return [] }
        let plan = SearchPlan(matcher, keys)
        return try searching(plan) { database -> [SealedItem]? in
            var found: [SealedItem] = []
            var bytes = 0
            try plan.forEachItem(after: 0, self, keys, database) { step in
                bytes += step.sealedBytes
                guard bytes <= mostBytes else { return false }
                found.append(step.item)
                return found.count < limit
            }
            guard bytes <= mostBytes else { return nil }
            // Before the first unlock it can't be told which closed items match. A query for one
            // item is content with one that opens.
            if limit != 1 || found.isEmpty { try plan.refuseIfClosed(database) }
            return found
        }
    }

    /// Reads in one snapshot, for all statements of the plan.
    func searching<R>(
        _ plan: SearchPlan, _ body: (Connection) throws -> R
    ) throws(KeychainStoreError) -> R {
        try plan.isOneStatement ? readingOnce(body) : reading(body)
    }

    /// Hands the items to `body` one by one, until it returns false: for answers too long to hold.
    /// No snapshot is held between two steps, so items added meanwhile may be included.
    package func forEach(
        _ query: ItemQuery, groups: [String], keys: borrowing ClassKeys,
        _ body: (SealedItem) -> Bool
    ) throws(KeychainStoreError) {
        try forEach(query, in: .groups(groups), keys: keys, body)
    }

    /// Hands out the items of any scope.
    package func forEach(
        _ query: ItemQuery, in scope: SearchScope, keys: borrowing ClassKeys,
        _ body: (SealedItem) -> Bool
    ) throws(KeychainStoreError) {
        let plan = SearchPlan(ItemMatcher(query: query, scope: scope), keys)
        // As in `find`: a query for one item is content with one that opens.
        if query.limit != 1 { try reading { try plan.refuseIfClosed($0) } }
        var left = query.limit ?? Int.max
        var last: Int64 = 0
        while left > 0 {
            var rest = Array(try batch(of: plan, after: last, atMost: left, keys).reversed())
            guard !rest.isEmpty else { break }
            left -= rest.count
            // Each item is released once `body` is done with it.
            while let step = rest.popLast() {
                guard body(step.item) else { return }
                last = step.row
            }
        }
        if query.limit == 1, last == 0 { try reading { try plan.refuseIfClosed($0) } }
    }

    /// The next items, few enough to hold. An item whose attributes find no room beside the others
    /// begins the next batch.
    private func batch(
        of plan: SearchPlan, after row: Int64, atMost most: Int, _ keys: borrowing ClassKeys
    ) throws(KeychainStoreError) -> [SearchPlan.Step] {
        try searching(plan) { database in
            var batch: [SearchPlan.Step] = []
            var bytes = 0
            do {
                try plan.forEachItem(
                    after: row, self, keys, database, waits: { batch.isEmpty }
                ) { step in
                    batch.append(step)
                    bytes += step.sealedBytes
                    return batch.count < min(most, Self.batchItems) && bytes < Self.batchBytes
                }
            } catch let error as KeychainStoreError where error == .noRoom && !batch.isEmpty {}
            return batch
        }
    }
}

/// The items that a search looks at. All others do not exist for it.
package enum SearchScope: Sendable {
    case groups([String])
    /// Items of other groups whose list names the program.
    case trusting(Caller.Identity, besides: [String])
    /// Items of other groups that have a list, whichever programs are in it.
    case askable(besides: [String])

    func contains(_ item: SealedItem) -> Bool {
        switch self {
        case .groups(let groups): groups.hasSame(as: item.record.group)
        case .trusting(let program, let groups):
            item.record.trusted?.names(program) == true && !groups.hasSame(as: item.record.group)
        case .askable(let groups):
            item.record.trusted != nil && !groups.hasSame(as: item.record.group)
        }
    }

    /// Calls `body` with each place that the index is asked for.
    func eachPlace(_ body: (BlindIndex.Place) -> Void) {
        switch self {
        case .groups(let groups): for group in groups { body(.group(group)) }
        case .trusting(let program, _):
            if let program = program.identifier { body(.listing(program)) }
        case .askable: body(.anyList)
        }
    }
}

extension AttributeRecord {
    /// The places under which the index has the item.
    var places: [BlindIndex.Place] {
        guard let trusted else { return [.group(group)] }
        return [.group(group), .anyList] + trusted.applications.map { .listing($0.identity) }
    }
}

/// Decides whether an opened item matches a query: the index only proposes. A class, as each item
/// found refers to it.
package final class ItemMatcher: Sendable {
    package let query: ItemQuery
    package let scope: SearchScope
    /// The query's texts in folded form, made once for all items.
    private let folded: [AttributeName: FoldedText]

    package init(query: ItemQuery, scope: SearchScope) {
        self.scope = scope
        var folded: [AttributeName: FoldedText] = [:]
        if !query.folding.isEmpty {
            for case (let name, .string(let text)) in query.attributes {
                folded[name] = FoldedText(text, query.folding)
            }
        }
        self.folded = folded
        self.query = query
    }

    func matches(_ item: SealedItem) -> Bool {
        guard item.reference.itemClass == query.itemClass,
            scope.contains(item), matchesSynchronizable(item)
        else { return false }
        if let accessible = query.accessible, accessible != item.protection { return false }
        if let references = query.references, !references.contains(item.reference) {
            return false
        }
        return matchesHost(item) && matchesAttributes(item)
    }

    /// Whether the index can find a value by its bytes. Texts that are equal when folded may have
    /// different bytes.
    func isExact(_ value: AttributeValue) -> Bool {
        if case .string = value { return query.folding.isEmpty }
        return true
    }

    private func matchesSynchronizable(_ item: SealedItem) -> Bool {
        switch query.synchronizable {
        case .no: !item.record.isSynchronizable
        case .yes: item.record.isSynchronizable
        case .any: true
        }
    }

    private func matchesAttributes(_ item: SealedItem) -> Bool {
        query.attributes.allSatisfy { name, wanted in
            guard let stored = item.record[name], let rule = query.itemClass.rule(for: name)
            else { return false }
            if let wanted = folded[name], case .string(let stored) = stored {
                return FoldedText(stored, query.folding) == wanted
            }
            return rule.matches(stored, wanted)
        }
    }

    /// Whether the item's server is the host or one of its subdomains.
    private func matchesHost(_ item: SealedItem) -> Bool {
        guard let host = query.hostOrSubdomain else { return true }
        guard case .string(let server)? = item.record.attributes[.server] else { return false }
        let wanted = Array(host.utf8)
        let stored = Array(server.utf8)
        return stored == wanted || stored.reversed().starts(with: ([0x2E] + wanted).reversed())
    }
}

/// Row numbers of the items that the index proposes, in the order in which they were added, each
/// once. Reads one page of each index entry at a time, so that a large keychain is never held in
/// memory.
struct CandidateStream {
    private struct Source {
        let lookUp: SearchPlan.LookUp
        var page: ArraySlice<Int64> = []
        var last: Int64
        var isExhausted = false
    }

    private static let pageSize: Int64 = 64
    private var sources: [Source]

    init(_ plan: SearchPlan, after row: Int64) {
        sources = plan.lookUps.map { Source(lookUp: $0, last: row) }
    }

    /// Only the given rows.
    init(rows: [Int64]) {
        sources = []
        fixed = rows[...]
    }

    private var fixed: ArraySlice<Int64> = []

    mutating func next(_ database: Connection) throws -> Int64? {
        if let row = fixed.popFirst() { return row }
        var best: (source: Int, row: Int64)?
        for position in sources.indices {
            try Self.fill(&sources[position], database)
            guard let row = sources[position].page.first else { continue }
            if best.map({ row < $0.row }) ?? true { best = (position, row) }
        }
        guard let best else { return nil }
        sources[best.source].page.removeFirst()
        return best.row
    }

    private static func fill(_ source: inout Source, _ database: Connection) throws {
        guard source.page.isEmpty, !source.isExhausted else { return }
        var page: [Int64] = []
        if source.lookUp.others.isEmpty {
            let values: [Value] = [
                .integer(source.lookUp.first), .integer(source.last), .integer(pageSize),
            ]
            try database.forEach(following, values) { row in
                guard let item = row.integer(0) else { throw DatabaseError.wrongType }
                page.append(item)
                return true
            }
        } else {
            page = try rows(under: source.lookUp.tokens, after: source.last, database)
        }
        source.isExhausted = page.count < Int(clamping: pageSize)
        if let last = page.last { source.last = last }
        source.page = page[...]
    }

    /// The next rows that have all of the entries. Each entry's list skips to the row that the
    /// previous list has reached, so that the search costs as much as the shortest list.
    private static func rows(
        under tokens: [Int64], after last: Int64, _ database: Connection
    ) throws -> [Int64] {
        var page: [Int64] = []
        var (row, place, agreeing) = (last, 0, 0)
        while page.count < Int(clamping: pageSize) {
            let isNew = agreeing == 0
            if isNew, row == .max { break }
            let next = try database.first(
                atLeast, .integer(tokens[place]), .integer(isNew ? row + 1 : row)
            ) { $0.integer(0) }
            guard let next else { break }
            agreeing = next == row && !isNew ? agreeing + 1 : 1
            row = next
            place = (place + 1) % tokens.count
            if agreeing == tokens.count {
                page.append(row)
                agreeing = 0
            }
        }
        return page
    }

    static let following = Query(
        "SELECT item FROM token WHERE token = ? AND item > ? ORDER BY item LIMIT ?")
    static let atLeast = Query(
        "SELECT item FROM token WHERE token = ? AND item >= ? ORDER BY item LIMIT 1")

    /// The condition that the entry's item has `others` further entries.
    static func also(_ others: Int) -> String {
        String(
            repeating: """
                 AND EXISTS (SELECT 1 FROM token AS other \
                WHERE other.token = ? AND other.item = token.item)
                """, count: others)
    }
}
