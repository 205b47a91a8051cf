// SPDX-License-Identifier: Apache-2.0
import Foundation
import Synchronization
import Testing

@testable import KeychainLinuxSystem

@Suite struct UserTurnsTests {
    private static let atOnce = 2

    private let turns = UserTurns(atOnce: UserTurnsTests.atOnce)
    private let begun = Begun()
    private let ended = DispatchGroup()

    /// In which order work began, and of which users.
    private final class Begun: Sendable {
        private let known = Mutex<[UInt32]>([])
        var users: [UInt32] { known.withLock { $0 } }
        func add(_ user: UInt32) { known.withLock { $0.append(user) } }
    }

    /// Works in a thread of its own, until `goOn` is signalled.
    private func start(_ user: UInt32, until goOn: DispatchSemaphore? = nil) {
        ended.enter()
        Thread { [turns, begun, ended] in
            turns.take(for: user) {
                begun.add(user)
                goOn?.wait()
            }
            ended.leave()
        }.start()
    }

    private func waitUntil(_ isSo: () -> Bool) {
        for _ in 0..<10_000 where !isSo() { usleep(1000) }
        #expect(isSo())
    }

    /// One after the other, so that the order in which they wait is known.
    private func startWaiting(_ users: UInt32...) {
        for user in users {
            let before = turns.waitingCount
            start(user)
            waitUntil { turns.waitingCount != before }
        }
    }

    private func startRunning(_ user: UInt32, until goOn: DispatchSemaphore) {
        let before = begun.users.count
        start(user, until: goOn)
        waitUntil { begun.users.count != before }
    }

    @Test func `one user's work never keeps another user waiting`() {
        let goOn = DispatchSemaphore(value: 0)
        startRunning(1, until: goOn)
        startWaiting(1, 1, 1)
        // Its end is what this test waits for.
        turns.take(for: 2) { begun.add(2) }
        #expect(begun.users == [1, 2])
        goOn.signal()
        ended.wait()
        #expect(begun.users == [1, 2, 1, 1, 1])
    }

    @Test func `no more users have theirs at once than were meant`() {
        let goOn = DispatchSemaphore(value: 0)
        for user in 1...UInt32(Self.atOnce) { startRunning(user, until: goOn) }
        startWaiting(7, 8)
        #expect(begun.users == [1, 2])
        for _ in 0..<Self.atOnce { goOn.signal() }
        ended.wait()
        #expect(Set(begun.users) == [1, 2, 7, 8])
    }

    @Test func `users that wait have their turns one after the other, however many one has`() {
        let (first, second) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        startRunning(1, until: first)
        startRunning(2, until: second)
        startWaiting(3, 3, 3, 4, 5, 4)
        first.signal()
        waitUntil { begun.users.count == 8 }
        #expect(begun.users == [1, 2, 3, 4, 5, 3, 4, 3])
        second.signal()
        ended.wait()
    }

    @Test func `a turn ends with an error as well`() {
        struct Failure: Error {}
        for _ in 0..<3 {
            #expect(throws: Failure.self) {
                try turns.take(for: 1) { () throws(Failure) in throw Failure() }
            }
        }
        turns.take(for: 1) { begun.add(1) }
        #expect(begun.users == [1])
    }
}
