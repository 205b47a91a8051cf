// SPDX-License-Identifier: Apache-2.0

/// What closes a keychain's when-unlocked items besides its user's own word.
public struct KeychainSettings: Sendable, Hashable {
    /// Seconds without use; nil is never.
    public var lockAfterIdle: UInt32?
    /// Seconds since the unlock, used or not; nil is never.
    public var lockAfter: UInt32?
    public var locksOnSleep: Bool
    /// When a session of its user's is locked.
    public var locksWithScreen: Bool

    public init(
        lockAfterIdle: UInt32? = nil, lockAfter: UInt32? = nil, locksOnSleep: Bool = true,
        locksWithScreen: Bool = true
    ) {
        self.lockAfterIdle = lockAfterIdle
        self.lockAfter = lockAfter
        self.locksOnSleep = locksOnSleep
        self.locksWithScreen = locksWithScreen
    }

    /// Of each the tighter.
    public func tightened(by other: KeychainSettings) -> KeychainSettings {
        KeychainSettings(
            lockAfterIdle: Self.earlier(lockAfterIdle, other.lockAfterIdle),
            lockAfter: Self.earlier(lockAfter, other.lockAfter),
            locksOnSleep: locksOnSleep || other.locksOnSleep,
            locksWithScreen: locksWithScreen || other.locksWithScreen)
    }

    private static func earlier(_ a: UInt32?, _ b: UInt32?) -> UInt32? {
        guard let a, let b else { return a ?? b }
        return min(a, b)
    }
}

extension KeychainSettings {
    /// What binds nobody.
    public static let loosest = KeychainSettings(locksOnSleep: false, locksWithScreen: false)
    /// For settings that can't be believed.
    public static let strictest = KeychainSettings(lockAfterIdle: 60, lockAfter: 3600)
}
