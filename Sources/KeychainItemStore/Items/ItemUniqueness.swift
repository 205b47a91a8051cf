// SPDX-License-Identifier: Apache-2.0
internal import KeychainDatabase
internal import KeychainModel

extension KeychainFile {
    /// Makes room for an item under its uniqueness key: throws `.duplicate` where a live item has
    /// the key, and sets aside an item with the key that is damaged beyond opening.
    ///
    /// `row` is the item's own row, nil for a new item. Runs inside the transaction that writes.
    func makeRoom(
        for item: WrittenItem, inPlaceOf row: Int64?, _ keys: borrowing ClassKeys,
        _ database: Connection
    ) throws {
        // Items of a class without key attributes may be equal.
        guard !item.reference.itemClass.keyAttributes.isEmpty else { return }
        for family in IndexFamily.allCases {
            let index =
                family == IndexFamily(item.accessible)
                ? item.keyIndex
                : keys.withIndexKey(family) {
                    BlindIndex.keyIndex(item.record, item.reference, $0)
                }
            guard let index else {
                try refuseUnknowable(item, database)
                continue
            }
            guard let other = try ItemRow.row(withKeyIndex: index, database), other != row
            else { continue }
            guard try isLost(other, keys, database) else { throw KeychainStoreError.duplicate }
            try Quarantine.move(other, database)
            forgetCorrupt(other)
        }
    }

    /// Before the first unlock it can't be told whether a closed item has the same key.
    private func refuseUnknowable(_ item: WrittenItem, _ database: Connection) throws {
        for accessible in Accessibility.allCases where IndexFamily(accessible) == .unlocked {
            if try ItemRow.exists(item.reference.itemClass, accessible, database) {
                throw KeychainStoreError.locked
            }
        }
    }

    /// Whether the row can never be opened again.
    private func isLost(
        _ row: Int64, _ keys: borrowing ClassKeys, _ database: Connection
    ) throws -> Bool {
        guard let found = try ItemRow.fetch(row, self, keys, database) else { return true }
        switch found.opened {
        case .corrupt: return true
        case .item(let item): return try !hasWholeSecret(item, keys, database)
        case .locked:
            // The class key was lost with the password; it is not just locked away.
            return try found.context?.accessible == .whenPasscodeSetThisDeviceOnly
                && keys.isUnlocked && !Keybag(database).hasPasscodeKey
        }
    }

    /// Whether the secret is authentic. It is opened for that, and wiped at once.
    func hasWholeSecret(
        _ item: SealedItem, _ keys: borrowing ClassKeys, _ database: Connection
    ) throws -> Bool {
        let sealed: [UInt8]
        let room = try roomForSecret(of: item, database)
        defer { withExtendedLifetime(room) {} }
        switch item.secret {
        case .none: return true
        case .here(let bytes): sealed = bytes
        case .inFile: sealed = try ItemRow.secret(item.reference, database) ?? []
        }
        do { _ = try openSecret(sealed, of: item, keys) } catch { return error != .corruptItem }
        return true
    }
}
