// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization
import Testing

@testable import KeychainCommands

@Suite struct ConcurrentlyTests {
    @Test(arguments: [0, 1, 3, 8, 200])
    func `what comes of each element stands in its place`(_ count: Int) {
        let found = Concurrently.map(Array(0..<count), threads: 8) { $0 * 2 }
        #expect(found == (0..<count).map { $0 * 2 })
    }

    @Test func `so many are worked on at once, and no more`() {
        let state = Mutex((now: 0, most: 0))
        let four = DispatchSemaphore(value: 0)
        _ = Concurrently.map(Array(0..<100), threads: 4) { index in
            let isFourth = state.withLock {
                $0.now += 1
                $0.most = max($0.most, $0.now)
                return index < 4 && $0.now == 4
            }
            // The first four wait for one another.
            if isFourth { for _ in 0..<4 { four.signal() } }
            if index < 4 { four.wait() }
            state.withLock { $0.now -= 1 }
        }
        #expect(state.withLock { $0.most } == 4)
    }
}
