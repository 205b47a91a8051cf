// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import Synchronization

/// Counts how often each keychain was locked, so that an unlock which began before a lock, and takes
/// a while to derive its key, does not undo it.
final class LockCounts: Sendable {
    /// When an unlock began, in locks.
    struct Moment: Sendable, Equatable {
        fileprivate var ofKeychain: UInt64 = 0
        fileprivate var ofUser: UInt64 = 0
    }
    private struct Counts {
        var ofKeychains: [KeychainPlace: UInt64] = [:]
        /// Locks of all of a user's keychains.
        var ofUsers: [UInt32: UInt64] = [:]

        func now(_ keychain: KeychainPlace) -> Moment {
            Moment(
                ofKeychain: ofKeychains[keychain, default: 0],
                ofUser: ofUsers[keychain.user, default: 0])
        }
    }

    private let counts = Mutex(Counts())

    func now(_ keychain: KeychainPlace) -> Moment { counts.withLock { $0.now(keychain) } }

    /// Removes the keys with `body`; nothing is kept meanwhile.
    func lock(_ keychain: KeychainPlace, _ body: () throws(Refusal) -> Void) throws(Refusal) {
        try counts.withLock { counts throws(Refusal) in
            counts.ofKeychains[keychain, default: 0] &+= 1
            try body()
        }
    }

    /// The same for all of the users' keychains.
    func lockAll(of users: [UInt32], _ body: () -> Void) {
        counts.withLock { counts in
            for user in users { counts.ofUsers[user, default: 0] &+= 1 }
            body()
        }
    }

    /// Keeps keys with `body`, unless the keychain has been locked since.
    func keep(
        _ keychain: KeychainPlace, since moment: Moment, _ body: () throws(Refusal) -> Void
    ) throws(Refusal) {
        try counts.withLock { counts throws(Refusal) in
            guard counts.now(keychain) == moment else { throw .locked }
            try body()
        }
    }
}
