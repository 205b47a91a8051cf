// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainSecrets
internal import KeychainVaults

/// When an unlock began, and the settings of its keychain then: kept beside the key, and sealed with
/// it.
///
/// Time is the machine's since it was started, asleep or not. The kernel's own timeouts go by the
/// wall's clock, which can be set.
struct AutoLockTerms: Sendable, Equatable {
    static let byteCount = KeychainSettings.byteCount + 8

    let settings: KeychainSettings
    /// Since boot.
    let begun: Duration

    init(_ settings: KeychainSettings, begun: Duration) {
        self.settings = settings
        // As it is written.
        self.begun = .milliseconds(begun.milliseconds)
    }

    /// The settings; the beginning in milliseconds, little endian.
    var bytes: [UInt8] {
        var writer = ByteWriter(capacity: Self.byteCount)
        write(to: &writer)
        return writer.bytes
    }

    func write(to writer: inout ByteWriter) {
        settings.write(to: &writer)
        writer.append(number: UInt64(bitPattern: begun.milliseconds))
    }

    init?(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard let settings = try? KeychainSettings(&reader),
            let milliseconds = (try? reader.number(UInt64.self)).flatMap(Int64.init(exactly:)),
            reader.isAtEnd
        else { return nil }
        self.settings = settings
        begun = .milliseconds(milliseconds)
    }

    func tightened(by bounds: KeychainSettings) -> AutoLockTerms {
        AutoLockTerms(settings.tightened(by: bounds), begun: begun)
    }

    /// What is left of it at `now`; `.zero` when it is over, nil where it has no end.
    func rest(lastUse: Duration, at now: Duration) -> Duration? {
        let whole = settings.lockAfter.map { begun + .seconds($0) }
        let idle = settings.lockAfterIdle.map { lastUse + .seconds($0) }
        guard let end = whole ?? idle else { return nil }
        return max(.zero, min(end, idle ?? end) - now)
    }
}

extension Duration {
    fileprivate var milliseconds: Int64 {
        components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    }

    /// For the kernel's timeouts, which end with a second of the wall's clock: not before this has
    /// passed, and at most two seconds after.
    var kernelSeconds: UInt32 {
        let whole = components.seconds + (components.attoseconds > 0 ? 1 : 0)
        return UInt32(clamping: whole + 1)
    }

    /// Since the machine was started, with the time it slept.
    static var sinceBoot: Duration { ContinuousClock().systemEpoch.duration(to: .now) }
}

/// When open keychains were last used: what "idle" is counted from.
///
/// A restarted daemon counts from its start; the kernel's timeout goes on meanwhile.
final class IdleTracker: Sendable {
    private struct Use {
        var last: Duration
        var terms: AutoLockTerms
    }

    private let uses = ShortLock<[KeychainID: Use]>([:])

    func begin(_ keychain: KeychainID, _ terms: AutoLockTerms) {
        uses.withLock { $0[keychain] = Use(last: terms.begun, terms: terms) }
    }

    /// The same unlock, under other settings.
    func change(_ keychain: KeychainID, _ terms: AutoLockTerms) {
        uses.withLock { $0[keychain]?.terms = terms }
    }

    /// What is left of an unlock; `.zero` when it is over, nil where it has no end.
    func rest(of terms: AutoLockTerms, _ keychain: KeychainID) -> Duration? {
        let now = Duration.sinceBoot
        return uses.withLock { uses in
            if uses[keychain] == nil { uses[keychain] = Use(last: now, terms: terms) }
            return terms.rest(lastUse: uses[keychain]?.last ?? now, at: now)
        }
    }

    func note(_ keychain: KeychainID) {
        let now = Duration.sinceBoot
        uses.withLock { $0[keychain]?.last = now }
    }

    /// It was closed for another reason.
    func end(_ keychain: KeychainID) { uses.withLock { $0[keychain] = nil } }

    func endAll(of user: UInt32) {
        uses.withLock { uses in uses = uses.filter { $0.key.user != user } }
    }

    /// Whether time is what closed it.
    func hasRunOut(_ keychain: KeychainID) -> Bool {
        let now = Duration.sinceBoot
        return uses.withLock { uses in
            uses[keychain].map { $0.terms.rest(lastUse: $0.last, at: now) == .zero } ?? false
        }
    }
}
