// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import Synchronization

/// Counts how often each keychain was locked, so that an unlock which began before a lock, and takes
/// a while to derive its key, does not undo it.
final class LockCounts: Sendable {
    /// When an unlock began, in locks.
    struct Moment: Sendable {
        fileprivate let count: UInt64
    }

    private let counts = Mutex<[KeychainPlace: UInt64]>([:])

    func now(_ keychain: KeychainPlace) -> Moment {
        Moment(count: counts.withLock { $0[keychain, default: 0] })
    }

    /// Removes the keys with `body`; nothing is kept meanwhile.
    func lock(_ keychain: KeychainPlace, _ body: () throws(Refusal) -> Void) throws(Refusal) {
        try counts.withLock { counts throws(Refusal) in
            counts[keychain, default: 0] &+= 1
            try body()
        }
    }

    /// Keeps keys with `body`, unless the keychain has been locked since.
    func keep(
        _ keychain: KeychainPlace, since moment: Moment, _ body: () throws(Refusal) -> Void
    ) throws(Refusal) {
        try counts.withLock { counts throws(Refusal) in
            guard counts[keychain, default: 0] == moment.count else { throw .locked }
            try body()
        }
    }
}
