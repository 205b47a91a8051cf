// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
internal import KeychainItemStore
internal import KeychainLinuxSystem

/// The memory that running requests and answers may take, in all and for one user. A request beyond
/// it waits a moment for others to end, and is then refused: this process never runs out of memory
/// for a secret or an item's attributes.
package final class MemoryBudget: @unchecked Sendable {
    package static let mostForUser = 96 * 1024 * 1024
    package static let mostInAll = 4 * mostForUser
    /// Bytes that each user may take however much the others hold: an item with the most attributes
    /// allowed. The first request of a user who holds nothing is admitted too, of any size.
    static let ofEach = 24 * 1024 * 1024
    /// Fewer bytes are not counted: the number of connections bounds them.
    static let free = 4096
    /// The least cost of one allocation, including its guard pages and its entry in the kernel's
    /// table of mappings.
    private static let least = 64 * 1024
    package static let patience: Duration = .seconds(3)

    private let condition = Condition()
    private var taken: [UInt32: Int] = [:]

    package init() {}

    /// Memory that is given back when the last reference ends.
    package final class Share: Sendable {
        private let budget: MemoryBudget
        private let user: UInt32
        private let bytes: Int

        fileprivate init(_ budget: MemoryBudget, _ user: UInt32, _ bytes: Int) {
            self.budget = budget
            self.user = user
            self.bytes = bytes
        }
        deinit { budget.giveBack(bytes, user) }
    }

    /// Takes room for `bytes` as they come and for one copy of them. Returns nil where so few are
    /// not counted.
    package func take(
        _ bytes: Int, for user: UInt32, patience: Duration = MemoryBudget.patience
    ) throws(RequestError) -> Share? {
        guard bytes > Self.free else { return nil }
        let cost = max(2 * bytes, Self.least)
        condition.lock()
        defer { condition.unlock() }
        let deadline = ContinuousClock.now + patience
        while !hasRoom(cost, user) {
            guard patience > .zero, condition.wait(until: deadline) else {
                throw .failed(.outOfMemory)
            }
        }
        taken[user, default: 0] += cost
        return Share(self, user, cost)
    }

    private func hasRoom(_ cost: Int, _ user: UInt32) -> Bool {
        let mine = taken[user, default: 0]
        guard mine + cost <= Self.mostForUser else { return false }
        // Users who hold much shut out themselves and one another, not users who hold little.
        return mine == 0 || mine + cost <= Self.ofEach
            || taken.values.reduce(0, +) + cost <= Self.mostInAll
    }

    private func giveBack(_ cost: Int, _ user: UInt32) {
        condition.lock()
        defer { condition.unlock() }
        taken[user, default: cost] -= cost
        if taken[user] == 0 { taken[user] = nil }
        condition.broadcast()
    }
}

/// One user's share of the memory budget, for the records of the user's keychains.
struct UserMemory: RecordMemory {
    /// A number that no user has: it stands for the machine's keychain.
    static let machine = UInt32.max

    let budget: MemoryBudget
    let user: UInt32

    /// Attributes exist four times at most: sealed, opened, in the message of an answer, and in its
    /// frame.
    func takeAttributes(
        _ bytes: Int, waits: Bool
    ) throws(KeychainStoreError) -> (any AnyObject & Sendable)? {
        do throws(RequestError) {
            return waits
                ? try budget.take(2 * bytes, for: user)
                : try budget.take(2 * bytes, for: user, patience: .zero)
        } catch { throw .noRoom }
    }

    func takeSecret(_ bytes: Int) throws(KeychainStoreError) -> (any AnyObject & Sendable)? {
        do throws(RequestError) {
            return try budget.take(bytes, for: user, patience: .zero)
        } catch { throw .noRoom }
    }
}
