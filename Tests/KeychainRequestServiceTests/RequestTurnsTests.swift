// SPDX-License-Identifier: Apache-2.0
import Dispatch
import KeychainLinuxSystem
import Synchronization
import Testing

@testable import KeychainDaemon

@Suite struct RequestTurnsTests {
    /// Reads, each on a thread of its own, that go on until they are let go.
    private final class Reads: Sendable {
        let turns: RequestTurns
        private let begun = Mutex<[Int]>([])
        private let changed = DispatchSemaphore(value: 0)
        private let goes: [DispatchSemaphore]

        init(_ count: Int, in turns: RequestTurns) {
            self.turns = turns
            goes = (0..<count).map { _ in DispatchSemaphore(value: 0) }
        }

        /// Returns once the read has begun.
        func begin(_ number: Int) {
            start(number)
            changed.wait()
        }

        /// Returns once the read waits for its turn.
        func queue(_ number: Int) {
            let waiting = turns.waitingCount
            start(number)
            while turns.waitingCount == waiting, !hasBegun(number) { Wait.pause(milliseconds: 1) }
        }

        private func hasBegun(_ number: Int) -> Bool { begun.withLock { $0.contains(number) } }

        private func start(_ number: Int) {
            let isStarted = DetachedThread.start { [self] in
                let turn = RequestTurns.Turn()
                turns.begin(turn)
                begun.withLock { $0.append(number) }
                changed.signal()
                goes[number].wait()
                turns.end(turn)
            }
            precondition(isStarted)
        }

        func end(_ number: Int) { goes[number].signal() }

        /// The reads that have begun, in their order, once there are that many.
        func begun(_ count: Int) -> [Int] {
            while begun.withLock({ $0.count }) < count { changed.wait() }
            return begun.withLock { $0 }
        }
    }

    @Test func `as many reads are worked on at once as there are turns, the others in their order`()
    {
        let reads = Reads(4, in: RequestTurns(most: 2, patience: .seconds(600)))
        reads.begin(0)
        reads.begin(1)
        reads.queue(2)
        reads.queue(3)
        #expect(reads.begun(2) == [0, 1])
        reads.end(1)
        #expect(reads.begun(3) == [0, 1, 2])
        #expect(reads.turns.waitingCount == 1)
        reads.end(2)
        #expect(reads.begun(4) == [0, 1, 2, 3])
        reads.end(0)
        reads.end(3)
    }

    @Test func `a read that has just begun keeps its turn, however long the next has waited`() {
        let reads = Reads(3, in: RequestTurns(most: 1, patience: .seconds(4)))
        reads.begin(0)
        reads.queue(1)
        reads.queue(2)
        Wait.pause(milliseconds: 2400)
        reads.end(0)
        #expect(reads.begun(2) == [0, 1])
        // By now the last has waited longer than a turn lasts.
        Wait.pause(milliseconds: 2000)
        #expect(reads.turns.waitingCount == 1)
        reads.end(1)
        #expect(reads.begun(3) == [0, 1, 2])
        reads.end(2)
    }

    @Test func `a read that lasts long holds up no other, and gives no turn back`() {
        let reads = Reads(4, in: RequestTurns(most: 1, patience: .seconds(4)))
        reads.begin(0)
        // It waits in vain for the first, and then needs no turn of it.
        reads.begin(1)
        #expect(reads.begun(2) == [0, 1])
        reads.end(0)
        reads.end(1)
        // Both turns are over: there is one, and not two.
        while !reads.turns.isIdle { Wait.pause(milliseconds: 1) }
        reads.begin(2)
        reads.queue(3)
        #expect(reads.begun(3) == [0, 1, 2])
        reads.end(2)
        #expect(reads.begun(4) == [0, 1, 2, 3])
        reads.end(3)
    }
}
