// SPDX-License-Identifier: Apache-2.0
package import KeychainSecrets
internal import KeychainModel

/// The class keys that are available for one request.
package struct ClassKeys: ~Copyable, Sendable {
    let always: KeyBundle
    let afterFirstUnlock: KeyBundle?
    let whileUnlocked: KeyBundle?
    /// Derived from an application password; items with such a password need it beside their class
    /// key.
    package var applicationKey: HeldSecret?

    /// Each bundle is of the kind its name says; a bundle of another kind counts as absent.
    package init(
        always: consuming KeyBundle, afterFirstUnlock: consuming KeyBundle?,
        whileUnlocked: consuming KeyBundle?
    ) {
        precondition(always.kind == .always)
        self.always = always
        self.afterFirstUnlock = Self.only(.afterFirstUnlock, afterFirstUnlock)
        self.whileUnlocked = Self.only(.whileUnlocked, whileUnlocked)
    }

    /// Whether the when-unlocked classes are open.
    package var isUnlocked: Bool { whileUnlocked != nil }
    /// Whether the after-first-unlock classes are open.
    package var wasUnlockedSinceBoot: Bool { afterFirstUnlock != nil }

    private static func only(_ kind: KeyBundle.Kind, _ bundle: consuming KeyBundle?) -> KeyBundle? {
        guard let bundle, bundle.kind == kind else { return nil }
        return .some(consume bundle)
    }

    /// Runs `body` with the key of a class, in its place in the bundle; returns nil while the key
    /// is missing.
    borrowing func withClassKey<R: ~Copyable, E: Error>(
        _ accessible: Accessibility, _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R? {
        switch accessible {
        case .always: try always.withKey(0, body)
        case .alwaysThisDeviceOnly: try always.withKey(1, body)
        case .afterFirstUnlock: try Self.withKey(0, of: afterFirstUnlock, body)
        case .afterFirstUnlockThisDeviceOnly: try Self.withKey(1, of: afterFirstUnlock, body)
        case .whenUnlocked: try Self.withKey(0, of: whileUnlocked, body)
        case .whenUnlockedThisDeviceOnly: try Self.withKey(1, of: whileUnlocked, body)
        case .whenPasscodeSetThisDeviceOnly: try Self.withKey(2, of: whileUnlocked, body)
        }
    }

    /// Runs `body` with the key of an item's secret: the class key, mixed with the application
    /// password's key where the item has one. Neither of the two opens the secret alone.
    borrowing func withSecretKey<R: ~Copyable>(
        _ rights: ItemAccessControl, _ body: (RawSpan) throws(KeychainStoreError) -> R
    ) throws(KeychainStoreError) -> R {
        let result = try withClassKey(rights.protection) {
            key throws(KeychainStoreError) -> R in
            guard rights.needsApplicationPassword else { return try body(key) }
            guard let applicationKey else { throw .needsApplicationPassword }
            return try KeyedHash.secret(
                key: key, Array("application password".utf8), mixedWith: applicationKey.bytes
            ).withBytes(body)
        }
        guard let result else { throw .locked }
        return result
    }

    /// Runs `body` with the key of a family's blind index; returns nil while the key is missing.
    borrowing func withIndexKey<R: ~Copyable, E: Error>(
        _ family: IndexFamily, _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R? {
        switch family {
        case .always: try always.withKey(2, body)
        case .unlocked: try Self.withKey(2, of: afterFirstUnlock, body)
        }
    }

    private static func withKey<R: ~Copyable, E: Error>(
        _ position: Int, of bundle: borrowing KeyBundle?, _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R? {
        switch bundle {
        case .some(let bundle): try bundle.withKey(position, body)
        case .none: nil
        }
    }
}

/// Classes that share an index key. Items that open without any unlock are indexed under the
/// device's key, all others under a key that is available from the first unlock.
enum IndexFamily: CaseIterable, Sendable {
    case always
    case unlocked

    /// A stored constant, as each search goes through it.
    static let all = allCases

    init(_ accessible: Accessibility) {
        self = accessible.availability == .always ? .always : .unlocked
    }
}

/// The class keys that come and go together, in the bytes that a key vault stores.
package struct KeyBundle: ~Copyable, Sendable {
    /// When the keys of a bundle are available.
    package enum Kind: UInt8, Sendable {
        /// dk, dku and the key of their index.
        case always = 1
        /// ck, cku and the index key of everything else.
        case afterFirstUnlock = 2
        /// ak, aku and, where a password is set and its device secret is there, akpu.
        case whileUnlocked = 3
    }

    /// The length of a bundle of that kind in bytes.
    package static func byteCount(_ kind: Kind) -> Int {
        (kind == .whileUnlocked ? 1 : 0) + 3 * SealingKey.byteCount
    }

    package let kind: Kind
    package let bytes: SecretBytes

    /// Throws `.damaged` for bytes of another length.
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

    /// A bundle of ak and aku, and akpu where it could be opened.
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

    /// Runs `body` with the key at the position, in place; returns nil for the third of
    /// `.whileUnlocked` where it is absent.
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

/// The keys that unlocking a keychain gives, for a key vault to keep.
package struct UnlockedKeys: ~Copyable, Sendable {
    package let whileUnlocked: KeyBundle
    package let afterFirstUnlock: KeyBundle

    package init(whileUnlocked: consuming KeyBundle, afterFirstUnlock: consuming KeyBundle) {
        self.whileUnlocked = whileUnlocked
        self.afterFirstUnlock = afterFirstUnlock
    }
}
