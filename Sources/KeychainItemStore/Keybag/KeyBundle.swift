// SPDX-License-Identifier: Apache-2.0
package import KeychainSecrets

/// The class keys that come and go together, as the bytes that a key vault keeps.
package struct KeyBundle: ~Copyable, Sendable {
    /// When the keys of a bundle are there.
    package enum Kind: UInt8, Sendable {
        /// dk, dku and the key of their index.
        case always = 1
        /// ck, cku and the index key of everything else.
        case afterFirstUnlock = 2
        /// ak, aku and, where a password is set and its device secret is there, akpu.
        case whileUnlocked = 3
    }

    /// Bytes of a bundle of that kind, always.
    package static func byteCount(_ kind: Kind) -> Int {
        (kind == .whileUnlocked ? 1 : 0) + 3 * SealingKey.byteCount
    }

    package let kind: Kind
    package let bytes: SecretBytes

    /// Refuses bytes of another length.
    package init(_ kind: Kind, _ bytes: consuming SecretBytes) throws(KeychainStoreError) {
        guard bytes.count == Self.byteCount(kind) else { throw .damaged }
        self.kind = kind
        self.bytes = bytes
    }

    package borrowing func copy() -> KeyBundle { KeyBundle(kind: kind, verified: bytes.copy()) }

    private init(kind: Kind, verified bytes: consuming SecretBytes) {
        self.kind = kind
        self.bytes = bytes
    }

    static func random(_ kind: Kind) -> KeyBundle {
        let keys = SecretBytes(random: 3 * SealingKey.byteCount)
        guard kind == .whileUnlocked else { return KeyBundle(kind: kind, verified: keys) }
        return whileUnlocked(
            keys.part(0..<2 * SealingKey.byteCount), passcodeKey: SealingKey.random())
    }

    /// ak and aku, and akpu where it could be opened.
    static func whileUnlocked(
        _ two: borrowing SecretBytes, passcodeKey: consuming SealingKey?
    ) -> KeyBundle {
        var writer = SecretWriter(capacity: byteCount(.whileUnlocked))
        if let passcodeKey {
            writer.append(SecretBytes(copying: [1]))
            writer.append(two)
            writer.append(passcodeKey.bytes)
        } else {
            writer.append(SecretBytes(copying: [0]))
            writer.append(two)
            writer.append(SecretBytes(copying: [UInt8](repeating: 0, count: 32)))
        }
        return KeyBundle(kind: .whileUnlocked, verified: writer.finish())
    }

    /// Runs `body` with the key at the position, where it lies; nil for the third of `.whileUnlocked`
    /// where it is absent.
    borrowing func withKey<R: ~Copyable, E: Error>(
        _ position: Int, _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R? {
        let offset = kind == .whileUnlocked ? 1 : 0
        return try bytes.withBytes { bytes throws(E) -> R? in
            if offset == 1, position == 2, bytes.byte(0) == 0 { return nil }
            // Safe: the position is one of three.
            let start = offset + position * SealingKey.byteCount
            return try body(bytes.extracting(start..<start + SealingKey.byteCount))
        }
    }

    /// A copy of the key at the position.
    borrowing func key(_ position: Int) -> SecretBytes? {
        withKey(position) { SecretBytes(copying: $0) }
    }
}

/// What unlocking a keychain gives, for a key vault to keep.
package struct UnlockedKeys: ~Copyable, Sendable {
    package let whileUnlocked: KeyBundle
    package let afterFirstUnlock: KeyBundle

    package init(whileUnlocked: consuming KeyBundle, afterFirstUnlock: consuming KeyBundle) {
        self.whileUnlocked = whileUnlocked
        self.afterFirstUnlock = afterFirstUnlock
    }
}
