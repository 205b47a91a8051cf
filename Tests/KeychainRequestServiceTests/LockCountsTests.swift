// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainLinuxSystem
import KeychainModel
import Synchronization
import Testing

@testable import KeychainVaults

@Suite struct LockCountsTests {
    private static let login = KeychainID(user: 1, name: .login)

    @Test func `an unlock that began before a lock keeps nothing`() throws {
        let counts = LockCounts()
        let begun = counts.now(Self.login)
        try counts.lock(Self.login) {}
        var isKept = false
        #expect(throws: RequestError.state(.locked)) {
            try counts.keep(Self.login, since: begun) { isKept = true }
        }
        #expect(!isKept)
    }

    @Test func `an unlock after the lock is kept, and so is another keychain's`() throws {
        let counts = LockCounts()
        let other = KeychainID(user: 2, name: .login)
        let begun = counts.now(other)
        try counts.lock(Self.login) {}
        var kept = 0
        try counts.keep(Self.login, since: counts.now(Self.login)) { kept += 1 }
        try counts.keep(other, since: begun) { kept += 1 }
        #expect(kept == 2)
    }

    @Test func `a lock of all of a user's keychains is one of each, and of no other's`() throws {
        let counts = LockCounts()
        let other = KeychainID(user: 2, name: .login)
        let begun = (counts.now(Self.login), counts.now(other))
        counts.lockAll(of: 1) {}
        #expect(throws: RequestError.state(.locked)) {
            try counts.keep(Self.login, since: begun.0) {}
        }
        try counts.keep(other, since: begun.1) {}
        try counts.keep(Self.login, since: counts.now(Self.login)) {}
    }

    @Test func `a lock that could not remove the keys says so`() {
        let counts = LockCounts()
        #expect(throws: RequestError.failed(.internalError)) {
            try counts.lock(Self.login) { () throws(RequestError) in throw .failed(.internalError) }
        }
    }

    @Test func `a look while a lock removes keys waits until they are gone`() throws {
        let counts = LockCounts()
        let before = counts.now(Self.login)
        let looked = DispatchSemaphore(value: 0)
        let seen = Seen()
        try counts.lock(Self.login) {
            Thread {
                seen.set(counts.now(Self.login))
                looked.signal()
            }.start()
            // As long as the keys are not gone no look comes to an end.
            #expect(looked.wait(timeout: .now() + .milliseconds(50)) == .timedOut)
        }
        #expect(looked.wait(timeout: .now() + 30) == .success)
        #expect(seen.moment == counts.now(Self.login))
        #expect(seen.moment != before)
    }

    @Test func `a look waits for no thread that keeps keys`() throws {
        let counts = LockCounts()
        let begun = counts.now(Self.login)
        var seen: LockGeneration?
        try counts.keep(Self.login, since: begun) { seen = counts.now(Self.login) }
        #expect(seen == begun)
    }

    @Test func `while one user's keys are removed another user's are looked at, kept and removed`()
        throws
    {
        let counts = LockCounts()
        let other = KeychainID(user: 2, name: .login)
        let begun = counts.now(other)
        var isKept = false
        try counts.lock(Self.login) { () throws(RequestError) in
            #expect(counts.now(other) == begun)
            try counts.keep(other, since: begun) { isKept = true }
            try counts.lock(other) {}
        }
        #expect(isKept)
        var users: [UInt32] = []
        counts.forgetAll(of: [1, 2]) { user in
            users.append(user)
            if user == 1 { #expect(counts.now(other) != begun) }
        }
        #expect(users == [1, 2])
    }

    @Test func `changes without number reach the observer from the same depth of the stack`() {
        let counts = LockCounts()
        let told = Told()
        counts.observe { _ in told.count.add(1, ordering: .relaxed) }
        let isDone = DispatchSemaphore(value: 0)
        // A stack on which they would not fit, if each of them left anything on it.
        let hasBegun = DetachedThread.start(stackBytes: 128 * 1024) {
            for _ in 0..<20_000 { try? counts.lock(Self.login) {} }
            isDone.signal()
        }
        #expect(hasBegun)
        isDone.wait()
        #expect(told.count.load(ordering: .relaxed) == 20_000)
    }

    private final class Told: Sendable {
        let count = Atomic<Int>(0)
    }

    private final class Seen: Sendable {
        private let value = Mutex<LockGeneration?>(nil)
        var moment: LockGeneration? { value.withLock { $0 } }
        func set(_ moment: LockGeneration) { value.withLock { $0 = moment } }
    }
}
