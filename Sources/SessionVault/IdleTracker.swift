// SPDX-License-Identifier: Apache-2.0
internal import KeychainVaults
internal import KeychainSecrets

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
