// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainModel

/// Unlocks that were accepted and are still deriving their key. The login goes on at once; a
/// request that reads first waits here instead.
package final class PendingUnlocks: @unchecked Sendable {
    package static let mostForUser = 4
    package static let mostInAll = 64
    private static let longestWait: Duration = .seconds(30)

    private let condition = Condition()
    private var counts: [UInt32: Int] = [:]

    package init() {}

    /// False when too many wait already.
    package func begin(_ user: UInt32) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        let all = counts.values.reduce(0, +)
        guard all < Self.mostInAll, counts[user, default: 0] < Self.mostForUser else {
            return false
        }
        counts[user, default: 0] += 1
        return true
    }

    package func end(_ user: UInt32) {
        condition.lock()
        defer { condition.unlock() }
        counts[user, default: 1] -= 1
        if counts[user] == 0 { counts[user] = nil }
        condition.broadcast()
    }

    package func wait(for user: UInt32) {
        condition.lock()
        defer { condition.unlock() }
        let deadline = ContinuousClock.now + Self.longestWait
        while counts[user] != nil {
            guard condition.wait(until: deadline) else { return }
        }
    }
}
