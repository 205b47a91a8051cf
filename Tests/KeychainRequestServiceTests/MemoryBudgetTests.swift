// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainModel
import Testing

@testable import KeychainVaults

@Suite struct MemoryBudgetTests {
    private static let large = 32 * 1024 * 1024

    @Test func `the largest secret fits, and a second of the same user waits for it`() throws {
        let budget = MemoryBudget()
        var share = try budget.take(Self.large, for: 1)
        #expect(share != nil)
        #expect(throws: RequestError.failed(.outOfMemory)) {
            _ = try budget.take(Self.large, for: 1, patience: .zero)
        }
        #expect(throws: RequestError.failed(.outOfMemory)) {
            _ = try budget.take(Self.large, for: 1, patience: .milliseconds(10))
        }
        share = nil
        #expect(try budget.take(Self.large, for: 1, patience: .zero) != nil)
    }

    @Test func `another user's share is their own`() throws {
        let budget = MemoryBudget()
        let mine = try budget.take(Self.large, for: 1)
        let theirs = try budget.take(Self.large, for: 2, patience: .zero)
        #expect(mine != nil && theirs != nil)
    }

    @Test func `a user with little waits for no other, and one who holds much does`() throws {
        let budget = MemoryBudget()
        var held: [MemoryBudget.Share?] = []
        for user: UInt32 in 1...4 {
            held.append(try budget.take(MemoryBudget.mostForUser / 2, for: user))
        }
        // The first that a user holds, of any size, and what an item may take beside it.
        held.append(try budget.take(1024 * 1024, for: 5, patience: .zero))
        held.append(try budget.take(8 * 1024 * 1024, for: 5, patience: .zero))
        held.append(try budget.take(Self.large, for: 6, patience: .zero))
        for user: UInt32 in [5, 6] {
            #expect(throws: RequestError.failed(.outOfMemory)) {
                _ = try budget.take(Self.large / 2, for: user, patience: .zero)
            }
        }
        #expect(held.count == 7)
    }

    @Test func `small secrets are not counted, and many of middle size are few`() throws {
        let budget = MemoryBudget()
        #expect(try budget.take(MemoryBudget.free, for: 1) == nil)
        var shares: [MemoryBudget.Share] = []
        while let share = try? budget.take(MemoryBudget.free + 1, for: 1, patience: .zero) {
            shares.append(share)
        }
        #expect(shares.count == 1536)
    }

    @Test func `a request that waits goes on when there is room`() async throws {
        let budget = MemoryBudget()
        let share = HeldShare(try budget.take(Self.large, for: 1))
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: 0.05)
            share.clear()
        }
        #expect(try budget.take(Self.large, for: 1, patience: .seconds(20)) != nil)
    }
}

/// Holds a share until it is told to let go.
private final class HeldShare: @unchecked Sendable {
    private let lock = NSLock()
    private var share: MemoryBudget.Share?

    init(_ share: MemoryBudget.Share?) { self.share = share }

    func clear() {
        lock.lock()
        defer { lock.unlock() }
        share = nil
    }
}
