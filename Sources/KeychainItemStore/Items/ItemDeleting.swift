// SPDX-License-Identifier: Apache-2.0
package import KeychainAccessControl
internal import KeychainDatabase
package import KeychainModel

extension KeychainFile {
    /// Deletes every item that matches the query, whatever its limit, or none. Returns the number
    /// of deleted items.
    ///
    /// An item that opens needs a grant to delete it; nil ends the whole deletion. An item that is
    /// locked or damaged is deleted where the index alone shows that it matches; a locked one only
    /// if `mayDeleteUnread`.
    package func delete(
        _ query: ItemQuery, groups: [String], keys: borrowing ClassKeys, mayDeleteUnread: Bool,
        grant: (SealedItem) -> Grant?
    ) throws(KeychainStoreError) -> Int {
        let plan = SearchPlan(query, groups: groups, keys)
        return try writing { database in
            try plan.refuseIfClosed(database)
            var candidates = try plan.candidates(after: 0, database)
            var deleted = 0
            while let row = try candidates.next(database) {
                guard try isToGo(row, plan, keys, database, mayDeleteUnread, grant) else {
                    continue
                }
                try FormerRow.remove(ofRow: row, database)
                try ItemRow.delete(row, database)
                forgetCorrupt(row)
                deleted += 1
            }
            guard deleted > 0 else { throw KeychainStoreError.notFound }
            return deleted
        }
    }

    private func isToGo(
        _ row: Int64, _ plan: SearchPlan, _ keys: borrowing ClassKeys, _ database: Connection,
        _ mayDeleteUnread: Bool, _ grant: (SealedItem) -> Grant?
    ) throws -> Bool {
        guard let found = try ItemRow.fetch(row, self, keys, database) else { return false }
        switch found.opened {
        case .item(let item):
            guard plan.matcher.matches(item) else { return false }
            guard let granted = grant(item) else { throw KeychainStoreError.notGranted }
            try Self.verify(granted, .delete, item)
            return true
        case .corrupt:
            noteCorrupt(row)
            return try plan.isKnown(found) && plan.proposes(found, database)
        case .locked:
            guard try plan.proposes(found, database) else { return false }
            // The index or the query leaves it open whether the locked item matches.
            guard mayDeleteUnread, plan.isKnown(found) else { throw KeychainStoreError.locked }
            return true
        }
    }
}
