// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainSecrets

/// The names of accounts, remembered for a moment: the account database may be on another machine.
/// A number that was reassigned is noticed when the moment is over.
package final class AccountNames: Sendable {
    private static let validFor: Duration = .seconds(5)
    /// Numbers without an account are remembered apart from names: a user with namespaces has
    /// thousands of them, and would have all other names forgotten.
    private static let mostAbsent = 1024
    private static let mostNames = 65_536

    private struct Entry {
        let name: String
        let inKeychains: String
        let until: BootTime
    }
    private struct Known {
        var names: [UInt32: Entry] = [:]
        var absent: [UInt32: BootTime] = [:]
        /// Users with a keychain, who therefore had an account, before the first look.
        var expected: Set<UInt32> = []

        func entry(of user: UInt32, _ now: BootTime) -> Entry? {
            guard let entry = names[user], now < entry.until else { return nil }
            return entry
        }
    }
    private let look: @Sendable (UInt32) -> String?
    private let inKeychains: @Sendable (String) -> String
    private let known = ShortLock(Known())

    /// `inKeychains`: the name by which an account's keychains know their owner.
    package init(
        _ look: @escaping @Sendable (UInt32) -> String?,
        inKeychains: @escaping @Sendable (String) -> String = { $0 }
    ) {
        self.look = look
        self.inKeychains = inKeychains
    }

    /// nil where there is no such account.
    package func name(of user: UInt32) -> String? { entry(of: user)?.name }

    /// The name by which the account's keychains know their owner; nil where there is no such account.
    package func nameInKeychains(of user: UInt32) -> String? { entry(of: user)?.inKeychains }

    private func entry(of user: UInt32) -> Entry? {
        let now = BootTime.now
        if let entry = known.withLock({ $0.entry(of: user, now) }) { return entry }
        if isKnownAbsent(user) { return nil }
        let entry = look(user).map {
            Entry(name: $0, inKeychains: inKeychains($0), until: now + Self.validFor)
        }
        known.withLock { known in
            known.names[user] = nil
            known.absent[user] = nil
            known.expected.remove(user)
            if let entry {
                if known.names.count >= Self.mostNames { known.names.removeAll() }
                known.names[user] = entry
            } else {
                if known.absent.count >= Self.mostAbsent { known.absent.removeAll() }
                known.absent[user] = now + Self.validFor
            }
        }
        return entry
    }

    /// Root has an account whatever the directory says.
    package func has(_ user: UInt32) -> Bool { user == 0 || name(of: user) != nil }

    /// Whether the number had an account at the last look; never looks again.
    package func isKnown(_ user: UInt32) -> Bool {
        user == 0 || known.withLock { $0.names[user] != nil || $0.expected.contains(user) }
    }

    /// Whether the last look, a moment ago, found no account.
    package func isKnownAbsent(_ user: UInt32) -> Bool {
        known.withLock { $0.absent[user].map { .now < $0 } ?? false }
    }

    /// Counts the users as known until the first look.
    package func expect(_ users: some Sequence<UInt32>) {
        known.withLock { $0.expected.formUnion(users) }
    }
}
