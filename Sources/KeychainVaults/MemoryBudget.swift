// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
internal import KeychainItemStore
internal import KeychainLinuxSystem

/// The memory that requests and answers under way may take, in all and for one user. What would go
/// beyond it waits a moment for others to end, and is then refused: this process never runs out of
/// memory for a secret, or for what an item is called.
package final class MemoryBudget: @unchecked Sendable {
    package static let mostForUser = 96 * 1024 * 1024
    package static let mostInAll = 4 * mostForUser
    /// What a user has of it whatever the others hold: an item with all the attributes that it may
    /// have. So has the first request of a user who holds nothing, of any size.
    static let ofEach = 24 * 1024 * 1024
    /// Less is not counted: the number of connections bounds it.
    static let free = 4096
    /// What an allocation of its own costs at least, its guard pages and its entry in the kernel's
    /// table of mappings included.
    private static let least = 64 * 1024
    package static let patience: Duration = .seconds(3)

    private let condition = Condition()
    private var taken: [UInt32: Int] = [:]

    package init() {}

    /// Memory that is given back when the last copy of this value ends.
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

    /// Room for `bytes` as they come and for one copy of them. nil where nothing is counted.
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
                throw .refused(.tooManyRequests)
            }
        }
        taken[user, default: 0] += cost
        return Share(self, user, cost)
    }

    private func hasRoom(_ cost: Int, _ user: UInt32) -> Bool {
        let mine = taken[user, default: 0]
        guard mine + cost <= Self.mostForUser else { return false }
        // Users who hold much keep out themselves and one another, not those who hold little.
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

/// One user's part of the memory budget, for the records of the user's keychains.
struct UserMemory: RecordMemory {
    /// A number that no user has, for the machine's keychain.
    static let machine = UInt32.max

    let budget: MemoryBudget
    let user: UInt32

    /// Attributes are there four times at most: sealed, opened, in the message of an answer, in its
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
