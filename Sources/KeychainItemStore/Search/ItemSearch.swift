// SPDX-License-Identifier: Apache-2.0
internal import KeychainDatabase
package import KeychainModel

extension KeychainFile {
    /// Items of one step of a long search, and bytes of what is sealed of them.
    private static let batchItems = 256
    private static let batchBytes = 256 * 1024

    /// The items that the query means, with their attributes, in the order they were added; at most
    /// its limit. What lies in another group does not exist.
    ///
    /// Throws `.locked` as soon as one of them can't be read for want of its class key.
    package func find(
        _ query: ItemQuery, groups: [String], keys: borrowing ClassKeys
    ) throws(KeychainStoreError) -> [SealedItem] {
        try find(query, in: .groups(groups), keys: keys)
    }

    /// The same for whatever is in the scope.
    package func find(
        _ query: ItemQuery, in scope: SearchScope, keys: borrowing ClassKeys
    ) throws(KeychainStoreError) -> [SealedItem] {
        try find(
            query, in: scope, keys: keys, atMost: query.limit ?? .max, mostBytes: .max) ?? []
    }

    /// The same where they are few, `limit` in the place of the query's; nil where more than so many
    /// bytes are sealed of them.
    package func find(
        _ query: ItemQuery, in scope: SearchScope, keys: borrowing ClassKeys,
        atMost limit: Int, mostBytes: Int
    ) throws(KeychainStoreError) -> [SealedItem]? {
        guard limit > 0 else { return [] }
        let plan = SearchPlan(query, scope, keys)
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
            // Before the first unlock it can't be told which of the closed items are meant. One
            // that opens is enough for who asked for one.
            if limit != 1 || found.isEmpty { try plan.refuseIfClosed(database) }
            return found
        }
    }

    /// One snapshot for all that the plan reads.
    private func searching<R>(
        _ plan: SearchPlan, _ body: (Connection) throws -> R
    ) throws(KeychainStoreError) -> R {
        try plan.isOneStatement ? readingOnce(body) : reading(body)
    }

    /// The same one by one, until `body` says false: for answers too long to be held. No snapshot
    /// is held between two steps, so that what is added meanwhile may be met too.
    package func forEach(
        _ query: ItemQuery, groups: [String], keys: borrowing ClassKeys,
        _ body: (SealedItem) -> Bool
    ) throws(KeychainStoreError) {
        try forEach(query, in: .groups(groups), keys: keys, body)
    }

    /// The same for whatever is in the scope.
    package func forEach(
        _ query: ItemQuery, in scope: SearchScope, keys: borrowing ClassKeys,
        _ body: (SealedItem) -> Bool
    ) throws(KeychainStoreError) {
        let plan = SearchPlan(query, scope, keys)
        // As in `find`, one that opens is enough where one was asked for.
        if query.limit != 1 { try reading { try plan.refuseIfClosed($0) } }
        var left = query.limit ?? Int.max
        var last: Int64 = 0
        while left > 0 {
            var rest = Array(try batch(of: plan, after: last, atMost: left, keys).reversed())
            guard !rest.isEmpty else { break }
            left -= rest.count
            // An item that `body` is done with is not held while it goes on.
            while let step = rest.popLast() {
                guard body(step.item) else { return }
                last = step.row
            }
        }
        if query.limit == 1, last == 0 { try reading { try plan.refuseIfClosed($0) } }
    }

    /// The next items, few enough to be held. An item for whose attributes there is no room beside
    /// the others begins the next batch.
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
