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

/// Some of the settings, anew.
public struct KeychainSettingsChange: Sendable, Equatable {
    /// Seconds; 0 is never.
    public var lockAfterIdle: UInt32?
    public var lockAfter: UInt32?
    public var locksOnSleep: Bool?
    public var locksWithScreen: Bool?

    public init() {}

    public var isEmpty: Bool { self == KeychainSettingsChange() }
}

extension KeychainSettings {
    public func changed(by change: KeychainSettingsChange) -> KeychainSettings {
        func time(_ new: UInt32?, _ old: UInt32?) -> UInt32? {
            new.map { $0 == 0 ? nil : $0 } ?? old
        }
        return KeychainSettings(
            lockAfterIdle: time(change.lockAfterIdle, lockAfterIdle),
            lockAfter: time(change.lockAfter, lockAfter),
            locksOnSleep: change.locksOnSleep ?? locksOnSleep,
            locksWithScreen: change.locksWithScreen ?? locksWithScreen)
    }

    /// Whether anything of it is looser than the other.
    public func isLooser(than other: KeychainSettings) -> Bool { tightened(by: other) != self }

    public static let byteCount = 9

    /// Flags, idle and whole seconds, 0 for never. Little endian.
    public var bytes: [UInt8] {
        func bytes(_ seconds: UInt32?) -> [UInt8] {
            (0..<4).map { UInt8(truncatingIfNeeded: (seconds ?? 0) >> ($0 * 8)) }
        }
        let flags: UInt8 = (locksOnSleep ? 1 : 0) | (locksWithScreen ? 2 : 0)
        // Safe: these are bytes one behind the other.
        return [flags] + bytes(lockAfterIdle) + bytes(lockAfter)
    }

    /// nil for bytes that `bytes` does not give.
    public init?(bytes: [UInt8]) {
        // Safe: the count is checked first.
        guard bytes.count == Self.byteCount, bytes[0] & ~3 == 0 else { return nil }
        func seconds(_ range: Range<Int>) -> UInt32? {
            // Safe: both ranges lie within the count.
            let seconds = bytes[range].reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            return seconds == 0 ? nil : seconds
        }
        self.init(
            lockAfterIdle: seconds(1..<5), lockAfter: seconds(5..<9),
            // Safe: the count was checked.
            locksOnSleep: bytes[0] & 1 != 0, locksWithScreen: bytes[0] & 2 != 0)
    }

    /// Bounds that allow every setting.
    public static let loosest = KeychainSettings(locksOnSleep: false, locksWithScreen: false)
    /// For settings that can't be believed.
    public static let strictest = KeychainSettings(lockAfterIdle: 60, lockAfter: 3600)
}
