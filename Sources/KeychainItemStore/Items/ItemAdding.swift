// SPDX-License-Identifier: Apache-2.0
package import KeychainAccessControl
internal import KeychainLinuxSystem
package import KeychainModel
package import KeychainSecrets

extension KeychainFile {
    /// Adds an item made by `SealedItem.new`, for one grant to write it. On the disk on return.
    ///
    /// A locked class is told before a duplicate, as the item is sealed first.
    package func add(
        _ item: SealedItem, _ secret: HeldSecret?, _ grant: consuming Grant,
        keys: borrowing ClassKeys
    ) throws(KeychainStoreError) -> Item {
        try Self.verify(grant, .encrypt, item)
        var record = item.record
        record.created = WallClock.secondsSince2001
        record.modified = record.created
        let written = try WrittenItem(
            item.reference, record, generation: item.generation, secret: secret,
            keychain: identifier, keys)
        try writing { database in
            try makeRoom(for: written, inPlaceOf: nil, keys, database)
            try written.insert(database)
        }
        groupNames.note(record.group)
        return written.found.found
    }
}
