// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
internal import KeychainDatabase

/// An item of the class `attributed` that a search met.
package enum AttributedCandidate: Sendable {
    case opened(SealedItem)
    /// The index tells that it is meant, and it does not open now. `isWhole`: it has no other pairs
    /// than those that were asked for.
    case sealed(ItemReference, isWhole: Bool)
}

extension KeychainFile {
    /// Hands out the items of the scope that have all of the query's pairs, in the order they were
    /// added, until `body` says false. No snapshot is held between two of them. Items that don't
    /// open are met where the index has them in the scope `sealed`; whether they are besides some
    /// groups the index does not tell.
    ///
    /// The index is enough: only before the first unlock, where it is shut too, `.locked` is
    /// thrown, if there is any item of the class and the query names no references.
    package func forEachAttributed(
        _ query: ItemQuery, in scope: SearchScope, sealed: SearchScope,
        keys: borrowing ClassKeys, _ body: (AttributedCandidate) -> Bool
    ) throws(KeychainStoreError) {
        var plans = Plans(
            all: SearchPlan(ItemMatcher(query: query, scope: scope), keys),
            sealed: ItemMatcher(query: query, scope: sealed))
        var last: Int64 = 0
        while true {
            let batch = try candidates(of: &plans, after: last, keys)
            for (row, candidate) in batch.found {
                guard body(candidate) else { return }
                last = row
            }
            guard !batch.isLast else { return }
        }
    }

    private struct Batch {
        var found: [(row: Int64, candidate: AttributedCandidate)] = []
        /// Whether there are no more.
        var isLast = true
    }

    private struct Plans {
        let all: SearchPlan
        private let sealed: ItemMatcher
        private var ofSealed: (meant: SearchPlan, whole: SearchPlan)?

        init(all: SearchPlan, sealed: ItemMatcher) {
            self.all = all
            self.sealed = sealed
        }

        /// How items that don't open are told, and those of them that have no other pairs. Both
        /// hash every pair under every key of the index, and most searches meet no such item.
        mutating func ofSealed(
            _ keys: borrowing ClassKeys
        ) -> (meant: SearchPlan, whole: SearchPlan) {
            if let ofSealed { return ofSealed }
            let made = (SearchPlan(sealed, keys), SearchPlan(sealed, keys, whole: true))
            ofSealed = made
            return made
        }
    }

    private func candidates(
        of plans: inout Plans, after row: Int64, _ keys: borrowing ClassKeys
    ) throws(KeychainStoreError) -> Batch {
        try reading { database in
            if row == 0 { try plans.all.refuseIfClosed(database) }
            var batch = Batch()
            var bytes = 0
            do {
                let all = plans.all
                try all.forEachRow(
                    after: row, self, keys, database, { batch.found.isEmpty }
                ) { found in
                    guard let candidate = try candidate(found, &plans, keys, database) else {
                        return true
                    }
                    batch.found.append((found.row, candidate))
                    bytes += found.sealedBytes
                    batch.isLast =
                        batch.found.count < Self.batchItems && bytes < Self.batchBytes
                    return batch.isLast
                }
            } catch let error as KeychainStoreError where error == .noRoom && !batch.found.isEmpty {
                batch.isLast = false
            }
            return batch
        }
    }

    /// nil for a row that is not meant after all.
    private func candidate(
        _ found: ItemRow, _ plans: inout Plans, _ keys: borrowing ClassKeys, _ database: Connection
    ) throws -> AttributedCandidate? {
        switch found.opened {
        case .item(let item):
            return plans.all.matcher.matches(item) ? .opened(item) : nil
        case .corrupt:
            noteCorrupt(found.row)
            return nil
        case .locked:
            guard let reference = found.context?.reference, reference.itemClass == .attributed,
                case let (meant, whole) = plans.ofSealed(keys),
                meant.isKnown(found), try meant.proposes(found, database)
            else { return nil }
            return .sealed(reference, isWhole: try whole.proposes(found, database))
        }
    }

    /// The item of the groups that is the same as one with these attributes would be; of several
    /// the one that was changed last. Throws `.locked` where it can't be told.
    package func findSame(
        as attributes: Attributes, groups: [String], keys: borrowing ClassKeys
    ) throws(KeychainStoreError) -> SealedItem? {
        try reading { try same(as: attributes, groups: groups, keys, $0) }
    }

    func same(
        as attributes: Attributes, groups: [String], _ keys: borrowing ClassKeys,
        _ database: Connection
    ) throws -> SealedItem? {
        var query = ItemQuery(.attributed)
        query.attributes = attributes.tellingPairs
        let plan = SearchPlan(query, groups: groups, keys, whole: true)
        try plan.refuseIfClosed(database)
        var same: SealedItem?
        try plan.forEachItem(after: 0, self, keys, database) { step in
            if step.item.record.attributes.isSameItem(as: attributes),
                same.map({ $0.isBehind(step.item) }) ?? true
            {
                same = step.item
            }
            return true
        }
        return same
    }
}

extension SealedItem {
    /// What the Secret Service's order goes by.
    package var order: AttributedOrder {
        AttributedOrder(
            pairs: record.attributes.tellingPairs.count, modified: record.modified, reference)
    }

    fileprivate func isBehind(_ other: SealedItem) -> Bool { other.order < order }
}

/// Where an item stands in the answer to a search: those with the fewest pairs first, then the
/// latest change, then the identifier. Small, as an answer may have very many.
package struct AttributedOrder: Sendable, Comparable {
    private let pairs: UInt16
    private let modified: Double
    private let identifier: UInt128

    /// More pairs than an item can have, for items whose pairs can't be counted.
    private static let unknown: UInt16 = 1000

    init(pairs: Int, modified: Double, _ reference: ItemReference) {
        self.pairs = UInt16(clamping: pairs)
        self.modified = modified
        identifier = reference.number
    }

    /// Of an item that does not open. `pairs`: how many were asked for, where it has no others.
    package init(sealed reference: ItemReference, pairs: Int?) {
        self.init(
            pairs: pairs ?? Int(Self.unknown), modified: -Double.greatestFiniteMagnitude,
            reference)
    }

    package var reference: ItemReference {
        ItemReference(itemClass: .attributed, number: identifier)
    }

    package static func < (a: Self, b: Self) -> Bool {
        if a.pairs != b.pairs { return a.pairs < b.pairs }
        if a.modified != b.modified { return a.modified > b.modified }
        return a.identifier < b.identifier
    }
}
