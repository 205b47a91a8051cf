// SPDX-License-Identifier: Apache-2.0

/// A keychain's name that is safe as a part of a path: letters, digits, `.`, `_` and `-`, at most
/// 64, not beginning with a dot.
public struct KeychainName: Sendable, Hashable, CustomStringConvertible {
    public static let login = KeychainName(verified: "login")
    /// The machine's keychain, for every user: root's keychain for services.
    public static let system = KeychainName(verified: "system")
    public static let longest = 64

    public let description: String

    public init?(_ name: String) {
        let allowed = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "-"):
                true
            default: false
            }
        }
        guard allowed, (1...Self.longest).contains(name.utf8.count), name.utf8.first != 0x2E
        else { return nil }
        self.init(verified: name)
    }

    private init(verified name: String) { description = name }
}

/// When a keychain's when-unlocked items are locked other than by its user.
public struct KeychainSettings: Sendable, Hashable {
    /// Seconds without use; nil is never.
    public var lockAfterIdle: UInt32?
    /// Seconds since the unlock, used or not; nil is never.
    public var lockAfter: UInt32?
    public var locksOnSleep: Bool
    /// Whether it locks when a session of its user is locked.
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

    /// The tighter of each setting.
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

/// A change of some of the settings.
public struct KeychainSettingsChange: Sendable, Equatable {
    /// Seconds; 0 is never.
    public var lockAfterIdle: UInt32?
    public var lockAfter: UInt32?
    public var locksOnSleep: Bool?
    public var locksWithScreen: Bool?
    /// The keychain's label for people; as readable as its name. Empty removes the label.
    public var label: String?

    /// The most bytes of a label.
    public static let longestLabel = 1024

    public init() {}

    /// Whether only the label changes, and no setting of automatic locking.
    public var isOfLabelAlone: Bool {
        var rest = self
        rest.label = nil
        return rest.isEmpty
    }

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

    /// Whether any setting is looser than the other's.
    public func isLooser(than other: KeychainSettings) -> Bool { tightened(by: other) != self }

    public static let byteCount = 9

    /// Flags, idle and whole seconds, 0 for never. Little endian.
    public var bytes: [UInt8] {
        var writer = ByteWriter(capacity: Self.byteCount)
        write(to: &writer)
        return writer.bytes
    }

    package func write(to writer: inout ByteWriter) {
        writer.append((locksOnSleep ? 1 : 0) | (locksWithScreen ? 2 : 0))
        writer.append(number: lockAfterIdle ?? 0)
        writer.append(number: lockAfter ?? 0)
    }

    /// nil for bytes that `bytes` does not produce.
    public init?(bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard let settings = try? Self(&reader), reader.isAtEnd else { return nil }
        self = settings
    }

    package init(_ reader: inout ByteReader) throws(MalformedBytes) {
        let settings = Self(
            flags: try reader.byte(), idle: try reader.number(UInt32.self),
            whole: try reader.number(UInt32.self))
        guard let settings else { throw MalformedBytes() }
        self = settings
    }

    /// From the numbers in `bytes`.
    package init?(flags: UInt8, idle: UInt32, whole: UInt32) {
        guard flags & ~3 == 0 else { return nil }
        func seconds(_ number: UInt32) -> UInt32? { number == 0 ? nil : number }
        self.init(
            lockAfterIdle: seconds(idle), lockAfter: seconds(whole),
            locksOnSleep: flags & 1 != 0, locksWithScreen: flags & 2 != 0)
    }

    /// Bounds that allow every setting.
    public static let loosest = KeychainSettings(locksOnSleep: false, locksWithScreen: false)
    /// Used in place of settings that can't be trusted.
    public static let strictest = KeychainSettings(lockAfterIdle: 60, lockAfter: 3600)
}

/// Whole seconds as people write them: 90s, 15m, 8h, 1d.
public struct TimeSpan: Sendable, Equatable {
    public let seconds: UInt32

    private static let units: [(letter: Character, seconds: UInt32)] = [
        ("d", 86400), ("h", 3600), ("m", 60), ("s", 1),
    ]

    public init(seconds: UInt32) { self.seconds = seconds }

    /// nil for other texts, and for a time of zero.
    public init?(_ text: String) {
        guard let unit = Self.units.first(where: { $0.letter == text.last }),
            text.dropLast().allSatisfy({ $0.isASCII && $0.isNumber }),
            let number = UInt32(text.dropLast()), number > 0
        else { return nil }
        let (seconds, isTooLong) = number.multipliedReportingOverflow(by: unit.seconds)
        guard !isTooLong else { return nil }
        self.seconds = seconds
    }
}

extension TimeSpan: CustomStringConvertible {
    /// In the largest unit without a remainder.
    public var description: String {
        let unit = Self.units.first { seconds % $0.seconds == 0 } ?? ("s", 1)
        return "\(seconds / unit.seconds)\(unit.letter)"
    }
}
