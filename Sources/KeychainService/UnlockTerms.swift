// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

/// When an unlock began, and the settings of its keychain then: kept beside the key, and sealed with
/// it.
///
/// Time is the machine's since it was started, asleep or not. The kernel's own timeouts go by the
/// wall's clock, which can be set.
struct UnlockTerms: Sendable, Equatable {
    static let byteCount = 17

    let settings: KeychainSettings
    /// Since boot.
    let begun: Duration

    init(_ settings: KeychainSettings, begun: Duration) {
        self.settings = settings
        // As it is written.
        self.begun = .milliseconds(begun.milliseconds)
    }

    /// Flags; the beginning in milliseconds; idle and whole seconds, 0 for never. Little endian.
    var bytes: [UInt8] {
        let flags: UInt8 = (settings.locksOnSleep ? 1 : 0) | (settings.locksWithScreen ? 2 : 0)
        return [flags] + Self.bytes(begun.milliseconds)
            + Self.bytes(settings.lockAfterIdle ?? 0) + Self.bytes(settings.lockAfter ?? 0)
    }

    init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount, bytes[0] & ~3 == 0 else { return nil }
        func number(_ range: Range<Int>) -> UInt64 {
            bytes[range].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        let milliseconds = number(1..<9)
        guard milliseconds <= Int64.max else { return nil }
        func seconds(_ range: Range<Int>) -> UInt32? {
            let seconds = UInt32(truncatingIfNeeded: number(range))
            return seconds == 0 ? nil : seconds
        }
        begun = .milliseconds(Int64(milliseconds))
        settings = KeychainSettings(
            lockAfterIdle: seconds(9..<13), lockAfter: seconds(13..<17),
            locksOnSleep: bytes[0] & 1 != 0, locksWithScreen: bytes[0] & 2 != 0)
    }

    func tightened(by bounds: KeychainSettings) -> UnlockTerms {
        UnlockTerms(settings.tightened(by: bounds), begun: begun)
    }

    /// What is left of it at `now`; `.zero` when it is over, nil where it has no end.
    func rest(lastUse: Duration, at now: Duration) -> Duration? {
        let ends = [
            settings.lockAfter.map { begun + .seconds($0) },
            settings.lockAfterIdle.map { lastUse + .seconds($0) },
        ]
        guard let end = ends.compactMap({ $0 }).min() else { return nil }
        return max(.zero, end - now)
    }

    private static func bytes<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        (0..<Number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
    }
}

extension Duration {
    fileprivate var milliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }

    /// For the kernel's timeouts: never longer than a second too long.
    var wholeSeconds: UInt32 {
        let whole = components.seconds + (components.attoseconds > 0 ? 1 : 0)
        return UInt32(clamping: max(1, whole))
    }

    /// Since the machine was started, with the time it slept.
    static var sinceBoot: Duration { ContinuousClock().systemEpoch.duration(to: .now) }
}
