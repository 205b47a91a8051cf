// SPDX-License-Identifier: Apache-2.0
internal import KeychainDatabase
internal import KeychainModel

/// Row numbers of the items that the index proposes, in the order they were added, each once. Reads
/// a page of each index entry at a time, so that a large keychain is never held at once.
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

    /// The given rows only.
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
        let others = source.lookUp.others
        var values: [Value] = [.integer(source.lookUp.first), .integer(source.last)]
        for token in others { values.append(.integer(token)) }
        values.append(.integer(pageSize))
        try database.forEach(statement(others: others.count), values) { row in
            guard let item = row.integer(0) else { throw DatabaseError.wrongType }
            source.page.append(item)
            return true
        }
        source.isExhausted = source.page.count < Int(clamping: pageSize)
        if let last = source.page.last { source.last = last }
    }

    static func statement(others: Int) -> String {
        """
        SELECT item FROM token WHERE token = ? AND item > ?\(also(others)) ORDER BY item LIMIT ?
        """
    }

    /// The condition that an entry's item has so many others as well.
    static func also(_ others: Int) -> String {
        String(
            repeating: """
                 AND EXISTS (SELECT 1 FROM token AS other \
                WHERE other.token = ? AND other.item = token.item)
                """, count: others)
    }
}
