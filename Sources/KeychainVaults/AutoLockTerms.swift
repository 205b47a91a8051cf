// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
package import KeychainSecrets

/// When an unlock began, and the settings of its keychain then: kept beside the key, and sealed with
/// it.
///
/// Time is the machine's since it was started, asleep or not. The kernel's own timeouts of keys go by
/// the wall's clock, which can be set, and are not used.
package struct AutoLockTerms: Sendable, Equatable {
    package static let byteCount = KeychainSettings.byteCount + 8

    package let settings: KeychainSettings
    /// Since boot, as it is written.
    private let begunMilliseconds: Int64

    package init(_ settings: KeychainSettings, begun: Duration) {
        self.settings = settings
        begunMilliseconds = begun.milliseconds
    }

    /// Since boot.
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

    /// Read where they lie.
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

    /// What is left of it at `now`; `.zero` when it is over, nil where it has no end.
    package func rest(lastUse: Duration, at now: Duration) -> Duration? {
        let whole = settings.lockAfter.map { begun + .seconds($0) }
        let idle = settings.lockAfterIdle.map { lastUse + .seconds($0) }
        guard let end = whole ?? idle else { return nil }
        return max(.zero, min(end, idle ?? end) - now)
    }
}

extension AutoLockTerms {
    /// Those of a kept unlock.
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
        // Safe: a wider number of a byte.
        range.reversed().reduce(0) { $0 << 8 | UInt64(byte($1)) }
    }
}

extension Duration {
    fileprivate var milliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }

    /// Since the machine was started, with the time it slept.
    package static var sinceBoot: Duration { ContinuousClock().systemEpoch.duration(to: .now) }
}
