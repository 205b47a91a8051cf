// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
internal import KeychainSecrets
internal import Synchronization

/// When an unlock began, in locks.
package struct LockGeneration: Sendable, Equatable {
    fileprivate var ofKeychain: UInt64 = 0
    fileprivate var ofUser: UInt64 = 0
    /// In the times that all keys were given up, those that a lock leaves among them.
    fileprivate var forgets: UInt64 = 0

    /// Whether the keys that a lock leaves are the same as in the other.
    package func isSameUnlessLocked(_ other: LockGeneration) -> Bool { forgets == other.forgets }
}

/// Counts how often each keychain was locked, so that an unlock which began before a lock, and takes
/// a while to derive its key, does not undo it.
package final class LockCounts: Sendable {
    private struct Counts {
        /// A lock is removing keys.
        var areChanging = false
        var ofKeychains: [KeychainID: UInt64] = [:]
        /// Locks of all of a user's keychains.
        var ofUsers: [UInt32: UInt64] = [:]
        var forgetsOfKeychains: [KeychainID: UInt64] = [:]
        var forgetsOfUsers: [UInt32: UInt64] = [:]

        func now(_ keychain: KeychainID) -> LockGeneration {
            LockGeneration(
                ofKeychain: ofKeychains[keychain, default: 0],
                ofUser: ofUsers[keychain.user, default: 0],
                forgets: forgetsOfKeychains[keychain, default: 0]
                    &+ forgetsOfUsers[keychain.user, default: 0])
        }
    }

    /// Every request looks at them: so this lock is never held while keys are written or removed.
    private let counts = ShortLock(Counts())
    /// One writing or removing of keys at a time.
    private let changing = Mutex(())

    package init() {}

    /// Waits for a lock that is removing keys: what is read after it is read without them.
    package func now(_ keychain: KeychainID) -> LockGeneration {
        let now = counts.withLock { $0.areChanging ? nil : $0.now(keychain) }
        return now ?? changing.withLock { _ in counts.withLock { $0.now(keychain) } }
    }

    /// Counts with `count`, and removes keys with `body` before a request sees the new count.
    private func change(
        _ count: (inout Counts) -> Void, _ body: () throws(RequestError) -> Void
    ) throws(RequestError) {
        try changing.withLock { _ throws(RequestError) in
            counts.withLock { counts in
                counts.areChanging = true
                count(&counts)
            }
            defer { counts.withLock { $0.areChanging = false } }
            try body()
        }
    }

    /// Removes the keys with `body`; nothing is kept meanwhile.
    package func lock(_ keychain: KeychainID, _ body: () throws(RequestError) -> Void)
        throws(RequestError)
    {
        try change({ $0.ofKeychains[keychain, default: 0] &+= 1 }, body)
    }

    /// The same for all of the users' keychains.
    package func lockAll(of users: [UInt32], _ body: () -> Void) {
        try? change(
            { counts in for user in users { counts.ofUsers[user, default: 0] &+= 1 } }, body)
    }

    /// Removes with `body` every key of the keychain, those that a lock leaves too.
    package func forget(_ keychain: KeychainID, _ body: () throws(RequestError) -> Void)
        throws(RequestError)
    {
        try change(
            { counts in
                counts.ofKeychains[keychain, default: 0] &+= 1
                counts.forgetsOfKeychains[keychain, default: 0] &+= 1
            }, body)
    }

    /// The same for all of the users' keychains.
    package func forgetAll(of users: [UInt32], _ body: () -> Void) {
        try? change(
            { counts in
                for user in users {
                    counts.ofUsers[user, default: 0] &+= 1
                    counts.forgetsOfUsers[user, default: 0] &+= 1
                }
            }, body)
    }

    /// Keeps keys with `body`, unless the keychain has been locked since.
    package func keep(
        _ keychain: KeychainID, since moment: LockGeneration,
        _ body: () throws(RequestError) -> Void
    ) throws(RequestError) {
        try changing.withLock { _ throws(RequestError) in
            guard counts.withLock({ $0.now(keychain) }) == moment else { throw .state(.locked) }
            try body()
        }
    }
}
