// SPDX-License-Identifier: Apache-2.0
public import AccessControl
internal import GRDB
internal import KeychainModel
public import Secrets

extension KeychainFile {
    /// The secret of an item, for one grant to read it; nil for an item without one.
    public func open(
        _ item: SealedItem, _ grant: consuming Grant, keys: borrowing ClassKeys
    ) throws(KeychainStoreError) -> HeldSecret? {
        try Self.verify(grant, .decrypt, item)
        guard let sealed = try sealedSecret(of: item) else { return nil }
        return HeldSecret(try openSecret(sealed, of: item, keys))
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
        let place = place(of: item)
        guard let classKey = keys.classKey(place.accessible) else { throw .locked }
        return try place.openSecret(sealed, item.accessControl, classKey)
    }

    func place(of item: SealedItem) -> ItemPlace {
        ItemPlace(
            keychain: identifier, reference: item.reference,
            accessible: item.accessControl.protection, generation: item.generation)
    }

    private func sealedSecret(of item: SealedItem) throws(KeychainStoreError) -> [UInt8]? {
        switch item.secret {
        case .none: return nil
        case .here(let sealed): return sealed
        case .inFile:
            let sealed = try reading { try ItemRow.secret(item.reference, $0) }
            guard let sealed else { throw .notFound }
            return sealed
        }
    }
}
