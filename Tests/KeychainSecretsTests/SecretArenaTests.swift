// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import Testing

@testable import KeychainSecrets

@Suite(.serialized) struct SecretArenaTests {
    private static let threads = 16
    private static let rounds = 2000

    /// Runs the body in threads of their own, with their numbers, and waits for all of them.
    private static func run(_ count: Int = threads, _ body: @escaping @Sendable (Int) -> Void) {
        let ended = DispatchGroup()
        for number in 0..<count {
            ended.enter()
            Thread {
                body(number)
                ended.leave()
            }.start()
        }
        ended.wait()
    }

    @Test func `secrets of many threads never share a place`() {
        let mixed = Mutex(0)
        Self.run { number in
            var wrong = 0
            for round in 0..<Self.rounds {
                let count = SecretArena.sizes[round % SecretArena.sizes.count] - round % 60
                let content = [UInt8](repeating: UInt8(number + 1), count: count)
                let first = SecretBytes(copying: content)
                let second = first.copy()
                if first.releasedFromLockedMemory() != content { wrong += 1 }
                if !first.matches(second) { wrong += 1 }
            }
            mixed.withLock { $0 += wrong }
        }
        #expect(mixed.withLock { $0 } == 0)
    }

    @Test func `a slot that another thread releases is zero for the next`() {
        let handed = Mutex<[HeldSecret]>([])
        let soiled = Mutex(0)
        Self.run { number in
            for round in 0..<Self.rounds {
                let fresh = SecretBytes(count: 64) { (_: inout MutableRawSpan) in }
                if fresh.releasedFromLockedMemory().contains(where: { $0 != 0 }) {
                    soiled.withLock { $0 += 1 }
                }
                let filled = [UInt8](repeating: UInt8(number + 1), count: 64)
                let mine = HeldSecret(SecretBytes(copying: filled))
                // What this thread takes out was, mostly, another's; its end is here.
                let other = handed.withLock { handed in
                    handed.append(mine)
                    return handed.count > Self.threads ? handed.removeFirst() : nil
                }
                if let other, round % 2 == 0 { _ = other.bytes.copy() }
            }
        }
        #expect(soiled.withLock { $0 } == 0)
    }

    @Test func `threads that come and go leave no more memory behind than they used at once`() {
        func use() {
            Self.run(4) { _ in
                let held = (0..<20).map { _ in HeldSecret(SecretBytes(random: 1000)) }
                withExtendedLifetime(held) {}
            }
        }
        for _ in 0..<20 { use() }
        let before = SecretArena.slotCount(ofSize: 1024)
        for _ in 0..<200 { use() }
        // Each of the eight shelves may have met all four at once meanwhile.
        #expect(SecretArena.slotCount(ofSize: 1024) <= before + 8 * 96)
    }

    @Test func `where one thread makes and another releases, memory stays bounded`() {
        let (made, released) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let held = Mutex<[HeldSecret]>([])
        let before = SecretArena.slotCount(ofSize: 4096)
        Self.run(2) { number in
            for _ in 0..<500 {
                if number == 0 {
                    held.withLock {
                        $0 = (0..<20).map { _ in HeldSecret(SecretBytes(random: 4000)) }
                    }
                    made.signal()
                    released.wait()
                } else {
                    made.wait()
                    held.withLock { $0 = [] }
                    released.signal()
                }
            }
        }
        #expect(SecretArena.slotCount(ofSize: 4096) <= before + 200)
    }
}

@Suite struct ShortLockTests {
    @Test func `no two threads are inside at once`() {
        let lock = ShortLock(0)
        let ended = DispatchGroup()
        for _ in 0..<8 {
            ended.enter()
            Thread {
                for _ in 0..<10_000 { lock.withLock { $0 += 1 } }
                ended.leave()
            }.start()
        }
        ended.wait()
        #expect(lock.withLock { $0 } == 80_000)
    }

    @Test func `an error from within lets go of the lock`() {
        struct Failure: Error {}
        let lock = ShortLock("before")
        #expect(throws: Failure.self) {
            try lock.withLock { (text: inout String) throws(Failure) in
                text = "after"
                throw Failure()
            }
        }
        #expect(lock.withLock { $0 } == "after")
    }
}
