// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainSecrets

/// Bytes under a fresh key of their own, and that key under a class key: wrapped key ‖ payload.
enum ItemSealing {
    private static let wrappedKeyBytes = SealingKey.byteCount + SealingKey.overhead
    /// Bytes of what is sealed, however short it was.
    static let least = wrappedKeyBytes + SealingKey.overhead

    static func seal(
        _ plain: RawSpan, _ part: SealContext.Part, context: [UInt8], under classKey: RawSpan
    ) -> [UInt8] {
        let key = SealingKey.random()
        let wrapping = SealingKey.derived(from: classKey, for: part.purpose)
        return wrapping.seal(key.bytes, context: context) + key.seal(plain, context: context)
    }

    static func open(
        _ sealed: RawSpan, _ part: SealContext.Part, context: [UInt8], under classKey: RawSpan
    ) throws(KeychainStoreError) -> SecretBytes {
        guard sealed.byteCount >= least else { throw .corruptItem }
        do {
            let wrapping = SealingKey.derived(from: classKey, for: part.purpose)
            let key = try wrapping.open(sealed.extracting(0..<wrappedKeyBytes), context: context)
            return try SealingKey(key).open(
                sealed.extracting(wrappedKeyBytes..<sealed.byteCount), context: context)
        } catch { throw .corruptItem }
    }
}

extension SealContext {
    func seal(
        _ record: AttributeRecord, _ classKey: RawSpan
    ) throws(KeychainStoreError) -> [UInt8] {
        let context = try context(.attributes, nil)
        return SecretBytes(copying: try record.encoded()).withBytes {
            ItemSealing.seal($0, .attributes, context: context, under: classKey)
        }
    }

    /// Attributes leave locked memory here: the model's values are ordinary ones.
    func openRecord(
        _ sealed: RawSpan, _ classKey: RawSpan
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
        _ secret: borrowing SecretBytes, _ rights: ItemAccessControl, _ classKey: RawSpan
    ) throws(KeychainStoreError) -> [UInt8] {
        let context = try context(.secret, rights)
        return try SecretPadding.pad(secret).withBytes {
            ItemSealing.seal($0, .secret, context: context, under: classKey)
        }
    }

    func openSecret(
        _ sealed: RawSpan, _ rights: ItemAccessControl, _ classKey: RawSpan
    ) throws(KeychainStoreError) -> SecretBytes {
        let padded = try ItemSealing.open(
            sealed, .secret, context: try context(.secret, rights), under: classKey)
        guard let secret = SecretPadding.unpad(padded) else { throw .corruptItem }
        return secret
    }
}
