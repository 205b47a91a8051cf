// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import Synchronization

/// Slows down whoever tries passwords: one try of a user at a time, and after three wrong ones a
/// growing pause before the next is looked at.
final class Guesses: Sendable {
    private static let free = 3
    private static let longestPause: Duration = .seconds(300)

    private struct State {
        var isTrying = false
        var wrong = 0
        var pausedUntil: ContinuousClock.Instant?
    }
    private let states = Mutex<[UInt32: State]>([:])

    func begin(_ user: UInt32) throws(Refusal) {
        let allowed = states.withLock { states in
            var state = states[user] ?? State()
            guard !state.isTrying, !Self.isPaused(state, .now) else { return false }
            state.isTrying = true
            states[user] = state
            return true
        }
        guard allowed else { throw .tooManyRequests }
    }

    func end(_ user: UInt32, wasRight: Bool) {
        states.withLock { states in
            guard !wasRight, var state = states[user] else {
                states[user] = nil
                return
            }
            state.isTrying = false
            state.wrong += 1
            if state.wrong >= Self.free {
                let doubled = Duration.seconds(2 << min(state.wrong - Self.free, 10))
                state.pausedUntil = ContinuousClock.now + min(doubled, Self.longestPause)
            }
            states[user] = state
        }
    }

    private static func isPaused(_ state: State, _ now: ContinuousClock.Instant) -> Bool {
        state.pausedUntil.map { now < $0 } ?? false
    }
}
