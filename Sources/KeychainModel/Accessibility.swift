// SPDX-License-Identifier: Apache-2.0

/// When an item can be opened, and whether it may leave this device (`kSecAttrAccessible`).
public enum Accessibility: UInt8, Sendable, Hashable, CaseIterable {
    case whenUnlocked = 0
    case afterFirstUnlock = 1
    case always = 2
    case whenUnlockedThisDeviceOnly = 3
    case afterFirstUnlockThisDeviceOnly = 4
    case alwaysThisDeviceOnly = 5
    case whenPasscodeSetThisDeviceOnly = 6

    /// Apple's short name: the value of `kSecAttrAccessible`.
    public var code: String { Self.codes[Int(rawValue)] }
    private static let codes = ["ak", "ck", "dk", "aku", "cku", "dku", "akpu"]

    public init?(code: String) {
        guard let index = Self.codes.firstIndex(of: code) else { return nil }
        self.init(rawValue: UInt8(index))
    }

    /// When the class key is available.
    public var availability: Availability {
        switch self {
        case .whenUnlocked, .whenUnlockedThisDeviceOnly, .whenPasscodeSetThisDeviceOnly:
            .whileUnlocked
        case .afterFirstUnlock, .afterFirstUnlockThisDeviceOnly: .afterFirstUnlock
        case .always, .alwaysThisDeviceOnly: .always
        }
    }

    public var isThisDeviceOnly: Bool {
        switch self {
        case .whenUnlocked, .afterFirstUnlock, .always: false
        case .whenUnlockedThisDeviceOnly, .afterFirstUnlockThisDeviceOnly,
            .alwaysThisDeviceOnly, .whenPasscodeSetThisDeviceOnly:
            true
        }
    }

    /// When keys of a class exist in memory.
    public enum Availability: UInt8, Sendable, Hashable, CaseIterable {
        case always
        case afterFirstUnlock
        case whileUnlocked
    }
}
