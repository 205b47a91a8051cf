// SPDX-License-Identifier: Apache-2.0
internal import KeychainDatabase
internal import KeychainModel

/// How the items of a query are looked for: under which index entries, with what is open now.
struct SearchPlan {
    /// Entries that one item must all have, the most telling first.
    struct LookUp {
        let family: IndexFamily
        let first: Int64
        let others: [Int64]

        var tokens: [Int64] { [first] + others }
    }

    let matcher: ItemMatcher
    private(set) var lookUps: [LookUp] = []
    /// The index alone says everything that the query asks, so that nothing needs to be opened to
    /// know whether an item is meant.
    let isCovered: Bool
    /// Families that the query may have items in, and whose index can't be read now.
    private(set) var closed: [IndexFamily] = []

    var query: ItemQuery { matcher.query }

    init(_ query: ItemQuery, groups: [String], _ keys: borrowing ClassKeys) {
        self.init(query, .groups(groups), keys)
    }

    init(_ query: ItemQuery, _ scope: SearchScope, _ keys: borrowing ClassKeys) {
        let matcher = ItemMatcher(query: query, scope: scope)
        let exact =
            query.folding.isEmpty
            ? query.attributes : query.attributes.filter { matcher.isExact($0.value) }
        let (terms, covered) = query.itemClass.fewestTerms(of: exact)
        self.matcher = matcher
        isCovered =
            query.hostOrSubdomain == nil && query.attributes.keys.allSatisfy(covered.contains)
        let wanted = query.accessible.map(IndexFamily.init)
        let entries = matcher.entries(terms)
        lookUps.reserveCapacity(IndexFamily.all.count * entries.count)
        for family in IndexFamily.all where wanted == nil || wanted == family {
            let added: Void? = keys.withIndexKey(family) { addLookUps(family, $0, entries) }
            if added == nil { closed.append(family) }
        }
    }

    private mutating func addLookUps(
        _ family: IndexFamily, _ key: RawSpan, _ entries: [ItemMatcher.Entry]
    ) {
        var seen: Set<Int64> = []
        for entry in entries {
            let first = BlindIndex.token(entry.first, key)
            // A group may be named twice.
            if entries.count > 1, !seen.insert(first).inserted { continue }
            let others = entry.others.map { BlindIndex.token($0, key) }
            lookUps.append(LookUp(family: family, first: first, others: others))
        }
    }

    /// The rows that may be meant, from behind the given one.
    func candidates(after row: Int64, _ database: Connection) throws -> CandidateStream {
        guard let references = query.references else { return CandidateStream(self, after: row) }
        let ofClass = references.filter { $0.itemClass == query.itemClass }
        let rows = try ItemRow.rows(ofClass, database)
        return CandidateStream(rows: rows.filter { $0 > row })
    }

    /// Whether an item that can't be opened is one of those looked for, as far as can be told.
    func proposes(_ item: ItemRow, _ database: Connection) throws -> Bool {
        guard let accessible = item.context?.accessible,
            query.accessible.map({ $0 == accessible }) ?? true
        else { return false }
        if closed.contains(IndexFamily(accessible)) { return true }
        return try lookUps.contains { lookUp in
            try lookUp.tokens.allSatisfy { token in
                try ItemRow.isFound(item.row, under: token, database)
            }
        }
    }

    /// Whether what the index proposes is certain to be meant, without its being opened.
    func isKnown(_ item: ItemRow) -> Bool {
        guard let accessible = item.context?.accessible else { return false }
        return isCovered && !closed.contains(IndexFamily(accessible))
    }

    /// Refuses where the query may mean items whose index can't be read. Items that are named by
    /// reference need no index.
    func refuseIfClosed(_ database: Connection) throws {
        guard query.references == nil, !closed.isEmpty else { return }
        let classes = query.accessible.map { [$0] } ?? Accessibility.allCases
        for accessible in classes where closed.contains(IndexFamily(accessible)) {
            if try ItemRow.exists(query.itemClass, accessible, database) {
                throw KeychainStoreError.locked
            }
        }
    }
}

extension ItemMatcher {
    /// What is hashed for the index entries that one item must all have, whichever family it is of.
    fileprivate struct Entry {
        let first: [UInt8]
        let others: [[UInt8]]
    }

    fileprivate func entries(_ terms: [IndexTerm]) -> [Entry] {
        var entries: [Entry] = []
        for place in scope.places {
            for isSynchronizable in query.synchronizable.values {
                let scope = BlindIndex.Scope(
                    itemClass: query.itemClass, place: place, isSynchronizable: isSynchronizable)
                let others = terms.dropFirst().map { BlindIndex.message($0, scope) }
                // Safe: a search has a term at least.
                entries.append(Entry(first: BlindIndex.message(terms[0], scope), others: others))
            }
        }
        return entries
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
