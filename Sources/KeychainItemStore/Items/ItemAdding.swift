// SPDX-License-Identifier: Apache-2.0
package import KeychainAccessControl
internal import KeychainLinuxSystem
internal import KeychainModel
package import KeychainSecrets

extension KeychainFile {
    /// Adds an item made by `SealedItem.new`, for one grant to write it. It is on the disk on
    /// return.
    ///
    /// A locked class is reported before a duplicate, as the item is sealed first. `groups`: an
    /// item of the class `attributed` is a duplicate where an equal item is in one of these groups.
    package func add(
        _ item: SealedItem, _ secret: HeldSecret?, _ grant: consuming Grant,
        keys: borrowing ClassKeys, unlessSameIn groups: [String] = []
    ) throws(KeychainStoreError) -> SealedItem {
        try Self.verify(grant, .encrypt, item)
        var record = item.record
        // No date lies in the future: a later change would seem to be older.
        let now = WallClock.secondsSince2001
        record.created = record.created == 0 ? now : min(record.created, now)
        record.modified = record.modified == 0 ? record.created : min(record.modified, now)
        let written = try WrittenItem(
            item.reference, record, generation: item.generation, secret: secret,
            keychain: identifier, keys)
        try writing { database in
            try makeRoom(for: written, inPlaceOf: nil, keys, database)
            if !groups.isEmpty,
                try same(as: record.attributes, groups: groups, keys, database) != nil
            {
                throw KeychainStoreError.duplicate
            }
            try groupCounts.checkRoom(for: written, keys, database)
            try written.insert(database)
        }
        groupNames.note(record.group)
        return written.found
    }
}
