// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
package import KeychainSecrets

/// The class keys that are there for one request.
package struct ClassKeys: ~Copyable, Sendable {
    let always: KeyBundle
    let afterFirstUnlock: KeyBundle?
    let whileUnlocked: KeyBundle?
    /// What items made with an application password need besides; derived from it.
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

    /// The when-unlocked classes are open.
    package var isUnlocked: Bool { whileUnlocked != nil }
    /// The after-first-unlock classes are open.
    package var wasUnlockedSinceBoot: Bool { afterFirstUnlock != nil }

    private static func only(_ kind: KeyBundle.Kind, _ bundle: consuming KeyBundle?) -> KeyBundle? {
        guard let bundle, bundle.kind == kind else { return nil }
        return .some(consume bundle)
    }

    /// The key of a class; nil while it is not there.
    borrowing func classKey(_ accessible: Accessibility) -> SealingKey? {
        let key =
            switch accessible {
            case .always: always.key(0)
            case .alwaysThisDeviceOnly: always.key(1)
            case .afterFirstUnlock: Self.key(0, of: afterFirstUnlock)
            case .afterFirstUnlockThisDeviceOnly: Self.key(1, of: afterFirstUnlock)
            case .whenUnlocked: Self.key(0, of: whileUnlocked)
            case .whenUnlockedThisDeviceOnly: Self.key(1, of: whileUnlocked)
            case .whenPasscodeSetThisDeviceOnly: Self.key(2, of: whileUnlocked)
            }
        guard let key else { return nil }
        return SealingKey(key)
    }

    /// The key of an item's secret: the class's, mixed with the application password's where the
    /// item was made with one. Neither opens it alone.
    borrowing func secretKey(_ rights: ItemAccessControl) throws(KeychainStoreError) -> SealingKey {
        guard let key = classKey(rights.protection) else { throw .locked }
        guard rights.needsApplicationPassword else { return key }
        guard let applicationKey else { throw .needsApplicationPassword }
        return SealingKey(
            KeyedHash.secret(
                key: key.bytes, Array("application password".utf8),
                mixedWith: applicationKey.bytes))
    }

    /// The key of a family's blind index; nil while it is not there.
    borrowing func indexKey(_ family: IndexFamily) -> SecretBytes? {
        switch family {
        case .always: always.key(2)
        case .unlocked: Self.key(2, of: afterFirstUnlock)
        }
    }

    private static func key(_ position: Int, of bundle: borrowing KeyBundle?) -> SecretBytes? {
        switch bundle {
        case .some(let bundle): bundle.key(position)
        case .none: nil
        }
    }
}

/// Classes that share an index key. Items that open without any unlock are looked up under the
/// device's key, all others under one that is there from the first unlock.
enum IndexFamily: CaseIterable, Sendable {
    case always
    case unlocked

    init(_ accessible: Accessibility) {
        self = accessible.availability == .always ? .always : .unlocked
    }
}
