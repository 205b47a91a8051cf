// SPDX-License-Identifier: Apache-2.0
internal import KeychainDatabase
internal import KeychainModel

extension GroupCounts {
    /// Throws `.tooLarge` where the item's group has as many items of the class `attributed` as it
    /// may. Runs inside the transaction that adds the item.
    func checkRoom(
        for item: WrittenItem, _ keys: borrowing ClassKeys, _ database: Connection
    ) throws {
        guard item.reference.itemClass == .attributed else { return }
        let scope = BlindIndex.Scope(
            itemClass: .attributed, place: .group(item.record.group),
            isSynchronizable: item.record.isSynchronizable)
        let entry = keys.withIndexKey(IndexFamily(item.accessible)) {
            BlindIndex.token(.all, scope, $0)
        }
        guard let entry else { throw KeychainStoreError.locked }
        try add(entry) { most in
            let count = try database.first(
                "SELECT count(*) FROM (SELECT 1 FROM token WHERE token = ? LIMIT ?)",
                .integer(entry), .integer(Int64(clamping: most))
            ) { $0.integer(0) }
            return Int(clamping: count ?? 0)
        }
    }
}
