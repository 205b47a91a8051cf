// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainSecrets

/// Bytes under a fresh key of their own, and that key under a class key: wrapped key ‖ payload.
enum ItemSealing {
    private static let wrappedKeyBytes = SealingKey.byteCount + SealingKey.overhead
    /// The fewest bytes that sealing gives, even for an empty input.
    static let least = wrappedKeyBytes + SealingKey.overhead

    static func seal(
        _ plain: RawSpan, _ part: SealContext.Part, context: [UInt8], under classKey: RawSpan
    ) -> [UInt8] {
        SealingKey.derived(from: classKey, for: part.purpose)
            .sealBehindNewKey(plain, context: context)
    }

    static func open(
        _ sealed: RawSpan, _ part: SealContext.Part, context: ContextBytes,
        under classKey: RawSpan
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

    /// Attributes leave locked memory here: the model's values are in ordinary memory.
    func openRecord(
        _ sealed: RawSpan, _ classKey: RawSpan
    ) throws(KeychainStoreError) -> AttributeRecord {
        let plain = try open(sealed, .attributes, nil, classKey)
        let record: AttributeRecord
        do { record = try AttributeRecord(decoding: plain.releasedFromLockedMemory()) } catch {
            throw .corruptItem
        }
        // The protection class is recorded twice: outside for searching, and authenticated inside.
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
        let padded = try open(sealed, .secret, rights, classKey)
        guard let secret = SecretPadding.unpad(padded) else { throw .corruptItem }
        return secret
    }
}

/// The context that all sealed parts of an item are bound to. A part that is moved to another
/// keychain, row, class, part or generation does not open.
struct SealContext: Sendable {
    let keychain: [UInt8]
    let reference: ItemReference
    let accessible: Accessibility
    let generation: Int64

    /// Far more than changes ever reach. A row outside is damaged: a program with the keys can seal
    /// any generation, and the next change must not overflow.
    static let generations: ClosedRange<Int64> = 1...Int64.max / 2

    /// The generation after this one; nil after the last.
    static func generation(after generation: Int64) -> Int64? {
        let (next, isOver) = generation.addingReportingOverflow(1)
        return !isOver && generations.contains(next) ? next : nil
    }

    enum Part: UInt8 {
        case attributes = 1
        case secret = 2
        /// The note of a former secret.
        case former = 3

        /// The purpose for deriving, from the class key, the key that wraps item keys of this part.
        var purpose: [UInt8] {
            switch self {
            case .attributes: Self.attributesPurpose
            case .secret: Self.secretPurpose
            case .former: Self.formerPurpose
            }
        }
        private static let attributesPurpose = Array("attributes".utf8)
        private static let secretPurpose = Array("secret".utf8)
        private static let formerPurpose = Array("former".utf8)
    }

    /// For sealing.
    func context(_ part: Part, _ rights: ItemAccessControl?) throws(KeychainStoreError) -> [UInt8] {
        try contextBytes(part, rights).bytes
    }

    /// Opens a part of the item.
    func open(
        _ sealed: RawSpan, _ part: Part, _ rights: ItemAccessControl?, _ classKey: RawSpan
    ) throws(KeychainStoreError) -> SecretBytes {
        try ItemSealing.open(
            sealed, part, context: try contextBytes(part, rights), under: classKey)
    }

    private func contextBytes(
        _ part: Part, _ rights: ItemAccessControl?
    ) throws(KeychainStoreError) -> ContextBytes {
        var context = ContextBytes()
        context.append(keychain)
        context.append(bigEndian: reference.number)
        context.append(reference.itemClass.rawValue)
        context.append(accessible.rawValue)
        context.append(part.rawValue)
        context.append(littleEndian: UInt64(bitPattern: generation))
        if let rights { context.append(try rights.fingerprint()) }
        return context
    }
}

/// Hides the exact length of a secret: four bytes of length, the secret, zeros up to a multiple of
/// 32.
enum SecretPadding {
    static let block = 32
    private static let lengthBytes = 4

    static func pad(_ secret: borrowing SecretBytes) throws(KeychainStoreError) -> SecretBytes {
        guard let length = UInt32(exactly: secret.count) else { throw .tooLarge }
        let used = lengthBytes + secret.count
        let total = (used + block - 1) / block * block
        var writer = SecretWriter(capacity: total)
        writer.append(SecretBytes(copying: length.littleEndianBytes))
        writer.append(secret)
        writer.append(SecretBytes(count: total - used) { (_: inout MutableRawSpan) in })
        return writer.finish()
    }

    /// Returns nil for bytes that `pad` does not make.
    static func unpad(_ padded: consuming SecretBytes) -> SecretBytes? {
        guard padded.count >= block, padded.count % block == 0 else { return nil }
        // Only the length leaves locked memory, for a comparison; the secret does not.
        let length = padded.withBytes { bytes in
            // Safe: each byte is widened to 32 bits.
            (0..<lengthBytes).reduce(UInt32(0)) { $0 | UInt32(bytes.byte($1)) << ($1 * 8) }
        }
        let used = lengthBytes + Int(clamping: length)
        guard (used + block - 1) / block * block == padded.count else { return nil }
        return padded.narrowed(to: lengthBytes..<used)
    }
}

extension [UInt8] {
    mutating func append<N: FixedWidthInteger & UnsignedInteger>(littleEndian number: N) {
        for shift in stride(from: 0, to: N.bitWidth, by: 8) {
            append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }
}

extension FixedWidthInteger where Self: UnsignedInteger {
    var littleEndianBytes: [UInt8] {
        (0..<Self.bitWidth / 8).map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) }
    }

    /// From at most as many bytes as the type has.
    init(littleEndianBytes bytes: some Collection<UInt8>) {
        precondition(bytes.count <= Self.bitWidth / 8)
        var value: Self = 0
        for (position, byte) in bytes.enumerated() { value |= Self(byte) << (position * 8) }
        self = value
    }
}

extension [UInt8] {
    mutating func append(block: some Collection<UInt8>) {
        append(littleEndian: UInt32(clamping: block.count))
        append(piece: block)
    }

    /// The name's bytes as a block.
    mutating func append(name: AttributeName) {
        append(littleEndian: UInt32(clamping: name.byteCount))
        name.append(to: &self)
    }
}
