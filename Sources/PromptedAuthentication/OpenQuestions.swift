// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import Synchronization

/// The questions that are shown now.
final class OpenQuestions: Sendable {
    private static let glanceMilliseconds: UInt32 = 100

    private struct State {
        var next = 0
        var open: Set<Int> = []
    }
    private let state = Mutex(State())

    /// Counts a question. Each call needs an `end` with the number that it returns.
    func begin() -> Int {
        state.withLock { state in
            state.next += 1
            state.open.insert(state.next)
            return state.next
        }
    }

    func end(_ number: Int) { state.withLock { _ = $0.open.remove(number) } }

    /// Returns when the questions that are open at the call have ended, or the time is over.
    func waitForThoseOfNow(atMost time: Duration) {
        let deadline = ContinuousClock.now + time
        let awaited = state.withLock { $0.open }
        while !state.withLock({ $0.open.isDisjoint(with: awaited) }), .now < deadline {
            Wait.pause(milliseconds: Self.glanceMilliseconds)
        }
    }
}
