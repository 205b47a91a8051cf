// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainSecrets

/// What everything sealed of an item is bound to. Moved to another keychain, row, class, part or
/// generation, it does not open.
struct SealContext: Sendable {
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
        var purpose: [UInt8] {
            switch self {
            case .attributes: Self.attributesPurpose
            case .secret: Self.secretPurpose
            }
        }
        private static let attributesPurpose = Array("attributes".utf8)
        private static let secretPurpose = Array("secret".utf8)
    }

    private static let contextBytes = 16 + 16 + 3 + 8 + 32

    func context(_ part: Part, _ rights: ItemAccessControl?) throws(KeychainStoreError) -> [UInt8] {
        var context: [UInt8] = []
        context.reserveCapacity(Self.contextBytes)
        context += keychain
        context += reference.identifier
        context.append(reference.itemClass.rawValue)
        context.append(accessible.rawValue)
        context.append(part.rawValue)
        context.append(littleEndian: UInt64(bitPattern: generation))
        if let rights { context += KeyedHash.fingerprint(try rights.encoded()) }
        return context
    }
}
