// SPDX-License-Identifier: Apache-2.0
import KeychainItemStore
@testable import KeychainVaults
import Testing

/// One user's part of the memory for records.
@Suite struct UserMemoryTests {
    private let budget = MemoryBudget()

    private func memory(_ user: UInt32 = 1) -> UserMemory { UserMemory(budget: budget, user: user) }

    @Test func `attributes count four times, and what is left is none's`() throws {
        let held = try memory().takeAttributes(MemoryBudget.mostForUser / 4, waits: false)
        #expect(held != nil)
        #expect(throws: KeychainStoreError.noRoom) {
            _ = try memory().takeAttributes(MemoryBudget.free, waits: false)
        }
        #expect(try memory(2).takeAttributes(MemoryBudget.free, waits: false) != nil)
        withExtendedLifetime(held) {}
    }

    @Test func `a secret counts twice, and is given back with its item`() throws {
        var held = try memory().takeSecret(MemoryBudget.mostForUser / 2)
        #expect(held != nil)
        #expect(throws: KeychainStoreError.noRoom) {
            _ = try memory().takeAttributes(MemoryBudget.free, waits: false)
        }
        held = nil
        #expect(try memory().takeAttributes(MemoryBudget.mostForUser / 4, waits: false) != nil)
    }

    @Test func `a secret that is small is not counted`() throws {
        #expect(try memory().takeSecret(MemoryBudget.free) == nil)
        #expect(try memory().takeAttributes(MemoryBudget.free / 2, waits: false) == nil)
    }

    @Test func `the machine's keychain has a part of no user's`() throws {
        let held = try memory(UserMemory.machine).takeSecret(MemoryBudget.mostForUser / 2)
        #expect(try memory(0).takeAttributes(MemoryBudget.free, waits: false) != nil)
        withExtendedLifetime(held) {}
    }
}
