// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// What users are called, remembered for a moment: the account database may be on another machine.
/// A number that was given to somebody else is noticed when the moment is over.
final class AccountNames: Sendable {
    private static let validFor: Duration = .seconds(5)
    private static let most = 1024

    private struct Entry {
        let name: String?
        let until: ContinuousClock.Instant
    }
    private let look: @Sendable (UInt32) -> String?
    private let known = Mutex<[UInt32: Entry]>([:])

    init(_ look: @escaping @Sendable (UInt32) -> String?) { self.look = look }

    /// nil where there is no such account.
    func name(of user: UInt32) -> String? {
        let now = ContinuousClock.now
        if let entry = known.withLock({ $0[user] }), now < entry.until { return entry.name }
        let name = look(user)
        known.withLock { known in
            if known.count >= Self.most { known.removeAll() }
            known[user] = Entry(name: name, until: now + Self.validFor)
        }
        return name
    }
}
