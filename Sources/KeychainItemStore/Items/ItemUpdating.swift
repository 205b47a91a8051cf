// SPDX-License-Identifier: Apache-2.0
package import KeychainAccessControl
internal import KeychainDatabase
internal import KeychainLinuxSystem
package import KeychainModel
package import KeychainSecrets

extension KeychainFile {
    /// Changes all of the items, or none, and returns how many. Each needs a grant to read it,
    /// which `grant` gives for the item as it is at that moment; nil ends the whole change.
    ///
    /// An item that was deleted meanwhile, or no longer matches its search, is left out. `trust`
    /// makes its new list from the list of that moment. `program` is recorded with a secret that is
    /// replaced.
    package func update(
        _ items: [MeantItem], _ change: ItemChange, _ secret: HeldSecret?,
        keys: borrowing ClassKeys, by program: String = "",
        trust: ((TrustList?) -> TrustList?)? = nil, grant: (SealedItem) -> Grant?
    ) throws(KeychainStoreError) -> Int {
        var groups: Set<[UInt8]> = []
        let changed = try writing { database in
            var changed = 0
            for item in items {
                guard let (row, current) = try current(item, keys, database) else { continue }
                guard let granted = grant(current) else { throw KeychainStoreError.notGranted }
                try Self.verify(granted, .decrypt, current)
                var record = current.record
                try record.apply(change, current.reference.itemClass)
                if let trust { record.trusted = trust(record.trusted) }
                if let secret {
                    try keepFormer(
                        of: current, row, replacedBy: secret, of: program, keys, database)
                }
                let isWritten = try write(record, secret, to: current, row, keys, database)
                if isWritten {
                    changed += 1
                    groups.insert(Array(record.group.utf8))
                }
            }
            guard changed > 0 else { throw KeychainStoreError.notFound }
            return changed
        }
        for group in groups { groupNames.note(String(decoding: group, as: UTF8.self)) }
        return changed
    }

    /// The item as stored now, if it still matches its search.
    private func current(
        _ item: MeantItem, _ keys: borrowing ClassKeys, _ database: Connection
    ) throws -> (row: Int64, item: SealedItem)? {
        guard let found = try ItemRow.fetch(item.reference, self, keys, database) else {
            return nil
        }
        switch found.opened {
        case .locked: throw KeychainStoreError.locked
        case .corrupt:
            noteCorrupt(found.row)
            return nil
        case .item(let current):
            let isMeant = item.matcher?.matches(current) ?? true
            return isMeant ? (found.row, current) : nil
        }
    }

    /// Returns false for an item whose old secret is damaged and would have to be kept.
    private func write(
        _ changed: AttributeRecord, _ secret: HeldSecret?, to item: SealedItem, _ row: Int64,
        _ keys: borrowing ClassKeys, _ database: Connection
    ) throws -> Bool {
        var record = changed
        record.modified = AttributeRecord.modificationDate(
            after: record.modified, now: WallClock.secondsSince2001)
        var kept = secret
        // Memory held until the item is written: the old secret as it was, and sealed anew.
        var room: (any AnyObject & Sendable)?
        defer { withExtendedLifetime(room) {} }
        if kept == nil {
            room = try roomForSecret(of: item, database)
            do { kept = try oldSecret(of: item, keys, database) } catch {
                guard error == .corruptItem else { throw error }
                noteCorrupt(row)
                return false
            }
        }
        guard let generation = SealContext.generation(after: item.generation) else {
            throw KeychainStoreError.tooLarge
        }
        let written = try WrittenItem(
            item.reference, record, generation: generation, secret: kept, keychain: identifier,
            keys)
        try makeRoom(for: written, inPlaceOf: row, keys, database)
        try written.replace(row, database)
        return true
    }

    /// Takes room for a secret that is not in memory yet.
    func roomForSecret(
        of item: SealedItem, _ database: Connection
    ) throws -> (any AnyObject & Sendable)? {
        guard let memory, case .inFile = item.secret else { return nil }
        return try memory.takeSecret(ItemRow.secretSize(item.reference, database))
    }

    private func oldSecret(
        of item: SealedItem, _ keys: borrowing ClassKeys, _ database: Connection
    ) throws(KeychainStoreError) -> HeldSecret? {
        let sealed: [UInt8]
        switch item.secret {
        case .none: return nil
        case .here(let bytes): sealed = bytes
        case .inFile:
            do { sealed = try ItemRow.secret(item.reference, database) ?? [] } catch {
                throw KeychainStoreError(error)
            }
        }
        return HeldSecret(try openSecret(sealed, of: item, keys))
    }
}
