// SPDX-License-Identifier: Apache-2.0
package import KeychainAccessControl
internal import KeychainDatabase
internal import KeychainModel
package import KeychainSecrets

/// An item and its secret, both of the same moment; nil for an item without a secret.
package struct OpenedItem: Sendable {
    package let item: SealedItem
    package let secret: HeldSecret?
}

extension KeychainFile {
    /// Opens an item's secret, for one grant to read it.
    package func open(
        _ item: SealedItem, _ grant: consuming Grant, keys: borrowing ClassKeys
    ) throws(KeychainStoreError) -> OpenedItem {
        try Self.verify(grant, .decrypt, item)
        switch item.secret {
        case .none: return OpenedItem(item: item, secret: nil)
        case .here(let sealed):
            let secret = HeldSecret(try openSecret(sealed, of: item, keys))
            return OpenedItem(item: item, secret: secret)
        case .inFile:
            let (current, sealed) = try current(item, keys)
            let secret = HeldSecret(try openSecret(sealed, of: current, keys))
            return OpenedItem(item: current, secret: secret)
        }
    }

    /// Bytes of an item's sealed secret, which is a little longer than what is in it; 0 without one.
    package func sealedSize(_ item: SealedItem) throws(KeychainStoreError) -> Int {
        switch item.secret {
        case .none: 0
        case .here(let sealed): sealed.count
        case .inFile: try reading { try ItemRow.secretSize(item.reference, $0) }
        }
    }

    static func verify(
        _ grant: borrowing Grant, _ operation: ItemOperation, _ item: SealedItem
    ) throws(KeychainStoreError) {
        guard grant.operation == operation, grant.reference == item.reference,
            grant.accessControl == item.accessControl
        else { throw .grantMismatch }
    }

    func openSecret(
        _ sealed: [UInt8], of item: SealedItem, _ keys: borrowing ClassKeys
    ) throws(KeychainStoreError) -> SecretBytes {
        let context = context(of: item)
        do {
            return try keys.withSecretKey(item.accessControl) { key throws(KeychainStoreError) in
                try sealed.withSpan { sealed throws(KeychainStoreError) in
                    try context.openSecret(sealed, item.accessControl, key)
                }
            }
        } catch {
            let hasPassword = item.accessControl.needsApplicationPassword
            throw hasPassword && error == .corruptItem ? .wrongApplicationPassword : error
        }
    }

    private func context(of item: SealedItem) -> SealContext {
        SealContext(
            keychain: identifier, reference: item.reference,
            accessible: item.accessControl.protection, generation: item.generation)
    }

    /// A large secret as it is now: the item may have changed since it was found. It must still be
    /// one that was meant, under the rights and in the group that were judged.
    private func current(
        _ item: SealedItem, _ keys: borrowing ClassKeys
    ) throws(KeychainStoreError) -> (SealedItem, [UInt8]) {
        try reading { database in
            guard let row = try ItemRow.fetch(item.reference, self, keys, database),
                let sealed = try ItemRow.secret(item.reference, database)
            else { throw KeychainStoreError.notFound }
            switch row.opened {
            case .locked: throw KeychainStoreError.locked
            case .corrupt: throw KeychainStoreError.corruptItem
            case .item(let current):
                let isMeant = item.matcher?.matches(current.record, current.reference) ?? true
                guard isMeant, current.accessControl == item.accessControl,
                    current.accessGroup.utf8.elementsEqual(item.accessGroup.utf8)
                else { throw KeychainStoreError.notFound }
                return (current, sealed)
            }
        }
    }
}
