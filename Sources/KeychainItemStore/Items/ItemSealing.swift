// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainSecrets

/// What everything sealed of an item is bound to. Moved to another keychain, row, class, part or
/// generation, it does not open.
struct ItemPlace: Sendable {
    let keychain: [UInt8]
    let reference: ItemReference
    let accessible: Accessibility
    let generation: Int64

    /// Far beyond what changes add up to. A row outside of it is damaged: who knows the keys can
    /// seal one of any generation, and the next change must not run over.
    static let generations: ClosedRange<Int64> = 1...Int64.max / 2

    /// The one that a change makes of it; nil behind the last.
    static func generation(after generation: Int64) -> Int64? {
        let (next, isOver) = generation.addingReportingOverflow(1)
        return !isOver && generations.contains(next) ? next : nil
    }

    enum Part: UInt8 {
        case attributes = 1
        case secret = 2

        /// The class key's child that wraps item keys of this part.
        var purpose: String {
            switch self {
            case .attributes: "attributes"
            case .secret: "secret"
            }
        }
    }

    func context(_ part: Part, _ rights: ItemAccessControl?) throws(KeychainStoreError) -> [UInt8] {
        var context = keychain + reference.identifier
        context += [reference.itemClass.rawValue, accessible.rawValue, part.rawValue]
        context += UInt64(bitPattern: generation).littleEndianBytes
        if let rights { context += KeyedHash.fingerprint(try rights.encoded()) }
        return context
    }
}

/// Bytes under a fresh key of their own, and that key under a class key: wrapped key ‖ payload.
enum ItemSealing {
    private static let wrappedKeyBytes = SealingKey.byteCount + SealingKey.overhead
    /// Bytes of what is sealed, however short it was.
    static let least = wrappedKeyBytes + SealingKey.overhead

    static func seal(
        _ plain: borrowing SecretBytes, _ part: ItemPlace.Part, context: [UInt8],
        under classKey: borrowing SealingKey
    ) -> [UInt8] {
        let key = SealingKey.random()
        let wrapped = classKey.derived(for: part.purpose).seal(key.bytes, context: context)
        return wrapped + key.seal(plain, context: context)
    }

    static func open(
        _ sealed: [UInt8], _ part: ItemPlace.Part, context: [UInt8],
        under classKey: borrowing SealingKey
    ) throws(KeychainStoreError) -> SecretBytes {
        guard sealed.count >= least else { throw .corruptItem }
        do {
            let key = try classKey.derived(for: part.purpose).open(
                // Safe: there are more bytes than that.
                Array(sealed[..<wrappedKeyBytes]), context: context)
            // Safe: there are more bytes than that.
            return try SealingKey(key).open(Array(sealed[wrappedKeyBytes...]), context: context)
        } catch { throw .corruptItem }
    }
}

extension ItemPlace {
    func seal(
        _ record: AttributeRecord, _ classKey: borrowing SealingKey
    ) throws(KeychainStoreError) -> [UInt8] {
        ItemSealing.seal(
            SecretBytes(copying: try record.encoded()), .attributes,
            context: try context(.attributes, nil), under: classKey)
    }

    /// Attributes leave locked memory here: the model's values are ordinary ones.
    func openRecord(
        _ sealed: [UInt8], _ classKey: borrowing SealingKey
    ) throws(KeychainStoreError) -> AttributeRecord {
        let plain = try ItemSealing.open(
            sealed, .attributes, context: try context(.attributes, nil), under: classKey)
        let record: AttributeRecord
        do { record = try AttributeRecord(decoding: plain.releasedFromLockedMemory()) } catch {
            throw .corruptItem
        }
        // The class is recorded twice, outside for searching and inside for being believed.
        guard record.accessControl.protection == accessible else { throw .corruptItem }
        return record
    }

    func sealSecret(
        _ secret: borrowing SecretBytes, _ rights: ItemAccessControl,
        _ classKey: borrowing SealingKey
    ) throws(KeychainStoreError) -> [UInt8] {
        ItemSealing.seal(
            try SecretPadding.pad(secret), .secret, context: try context(.secret, rights),
            under: classKey)
    }

    func openSecret(
        _ sealed: [UInt8], _ rights: ItemAccessControl, _ classKey: borrowing SealingKey
    ) throws(KeychainStoreError) -> SecretBytes {
        let padded = try ItemSealing.open(
            sealed, .secret, context: try context(.secret, rights), under: classKey)
        guard let secret = SecretPadding.unpad(padded) else { throw .corruptItem }
        return secret
    }
}
