// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
package import KeychainModel
package import KeychainSecrets

/// When an unlock began, and its keychain's settings at that time: stored beside the class key, and
/// sealed with it.
///
/// Times are since boot, including sleep. The kernel's timeouts of keys are not used: they follow
/// the wall clock, which can be set.
package struct AutoLockTerms: Sendable, Equatable {
    package static let byteCount = KeychainSettings.byteCount + 8

    package let settings: KeychainSettings
    /// Milliseconds since boot, as stored.
    private let begunMilliseconds: Int64

    package init(_ settings: KeychainSettings, begun: Duration) {
        self.settings = settings
        begunMilliseconds = begun.milliseconds
    }

    /// The time since boot at which the unlock began.
    package var begun: Duration { .milliseconds(begunMilliseconds) }

    /// The settings; the beginning in milliseconds, little endian.
    package var bytes: [UInt8] {
        var writer = ByteWriter(capacity: Self.byteCount)
        write(to: &writer)
        return writer.bytes
    }

    package func write(to writer: inout ByteWriter) {
        settings.write(to: &writer)
        writer.append(number: UInt64(bitPattern: begunMilliseconds))
    }

    /// Parses stored terms in place.
    package init?(_ bytes: RawSpan) {
        guard bytes.byteCount == Self.byteCount,
            let settings = KeychainSettings(
                flags: bytes.byte(0), idle: UInt32(truncatingIfNeeded: bytes.number(1..<5)),
                whole: UInt32(truncatingIfNeeded: bytes.number(5..<9))),
            let milliseconds = Int64(exactly: bytes.number(9..<Self.byteCount))
        else { return nil }
        self.settings = settings
        begunMilliseconds = milliseconds
    }

    package func tightened(by bounds: KeychainSettings) -> AutoLockTerms {
        AutoLockTerms(settings.tightened(by: bounds), begunMilliseconds: begunMilliseconds)
    }

    private init(_ settings: KeychainSettings, begunMilliseconds: Int64) {
        self.settings = settings
        self.begunMilliseconds = begunMilliseconds
    }

    /// The time left at `now`; `.zero` when the unlock is over, nil where it has no end.
    package func rest(lastUse: Duration, at now: Duration) -> Duration? {
        let whole = settings.lockAfter.map { begun + .seconds($0) }
        let idle = settings.lockAfterIdle.map { lastUse + .seconds($0) }
        guard let end = whole ?? idle else { return nil }
        return max(.zero, min(end, idle ?? end) - now)
    }
}

extension AutoLockTerms {
    /// Parses the terms at the start of a stored unlock.
    package init?(kept: borrowing SecretBytes) {
        guard kept.count > Self.byteCount else { return nil }
        let terms = kept.withBytes { AutoLockTerms($0.extracting(0..<Self.byteCount)) }
        guard let terms else { return nil }
        self = terms
    }
}

extension RawSpan {
    /// Little endian; at most eight bytes.
    fileprivate func number(_ range: Range<Int>) -> UInt64 {
        // Safe: each byte is widened to 64 bits.
        range.reversed().reduce(0) { $0 << 8 | UInt64(byte($1)) }
    }
}

extension Duration {
    fileprivate var milliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }

    /// The time since boot, including sleep.
    package static var sinceBoot: Duration {
        .nanoseconds(Int64(clamping: BootTime.now.nanoseconds))
    }
}
