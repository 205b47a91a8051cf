// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

extension Keychain {
    /// When an item can be opened, and the proofs that are needed before.
    public enum Protection: Sendable, Equatable {
        case accessible(Accessibility)
        /// As `SecAccessControlCreateWithFlags`; flags that contradict each other are refused with
        /// `errSecParam` when they are used.
        case requiring(SecAccessControlCreateFlags, Accessibility = .whenUnlocked)
    }

    /// When an item can be opened, and whether it may leave this device (`kSecAttrAccessible`).
    public enum Accessibility: Sendable, Hashable, CaseIterable {
        case whenUnlocked
        case afterFirstUnlock
        case always
        case whenUnlockedThisDeviceOnly
        case afterFirstUnlockThisDeviceOnly
        case alwaysThisDeviceOnly
        /// The item is lost when the keychain's password is removed.
        case whenPasscodeSetThisDeviceOnly
    }
}

extension Keychain.Protection {
    var accessibility: Keychain.Accessibility {
        switch self {
        case .accessible(let accessibility), .requiring(_, let accessibility): accessibility
        }
    }

    /// nil where the accessibility is enough.
    func accessControl() throws(KeychainError) -> ItemAccessControl? {
        guard case .requiring(let flags, let accessibility) = self else { return nil }
        let known = AccessControlFlags(rawValue: flags.rawValue)
        guard let rights = known.accessControl(protecting: accessibility.stored) else {
            throw KeychainError(status: errSecParam)
        }
        return rights
    }
}

extension Keychain.Accessibility {
    var stored: KeychainModel.Accessibility {
        switch self {
        case .whenUnlocked: .whenUnlocked
        case .afterFirstUnlock: .afterFirstUnlock
        case .always: .always
        case .whenUnlockedThisDeviceOnly: .whenUnlockedThisDeviceOnly
        case .afterFirstUnlockThisDeviceOnly: .afterFirstUnlockThisDeviceOnly
        case .alwaysThisDeviceOnly: .alwaysThisDeviceOnly
        case .whenPasscodeSetThisDeviceOnly: .whenPasscodeSetThisDeviceOnly
        }
    }

    init(_ stored: KeychainModel.Accessibility) {
        switch stored {
        case .whenUnlocked: self = .whenUnlocked
        case .afterFirstUnlock: self = .afterFirstUnlock
        case .always: self = .always
        case .whenUnlockedThisDeviceOnly: self = .whenUnlockedThisDeviceOnly
        case .afterFirstUnlockThisDeviceOnly: self = .afterFirstUnlockThisDeviceOnly
        case .alwaysThisDeviceOnly: self = .alwaysThisDeviceOnly
        case .whenPasscodeSetThisDeviceOnly: self = .whenPasscodeSetThisDeviceOnly
        }
    }
}
