// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import Synchronization

/// Slows down whoever tries passwords: one try of a keychain at a time, and after three wrong ones a
/// growing pause before the next is looked at. One instance counts for all the ways a password can
/// come: a right password for one keychain says nothing about another.
final class Guesses: Sendable {
    enum Outcome: Sendable {
        case right
        case wrong
        /// It was not looked at, or something else failed: neither for nor against whoever tried.
        case undecided
    }

    private static let free = 3
    private static let longestPause: Duration = .seconds(300)

    private struct State {
        var isTrying = false
        var wrong = 0
        var pausedUntil: ContinuousClock.Instant?
    }
    private let states = Mutex<[KeychainPlace: State]>([:])

    /// Each that does not throw is followed by an `end`.
    func begin(_ keychain: KeychainPlace) throws(Refusal) {
        let allowed = states.withLock { states in
            var state = states[keychain] ?? State()
            guard !state.isTrying, !Self.isPaused(state, .now) else { return false }
            state.isTrying = true
            states[keychain] = state
            return true
        }
        guard allowed else { throw .tooManyRequests }
    }

    func end(_ keychain: KeychainPlace, _ outcome: Outcome) {
        states.withLock { states in
            guard outcome != .right, var state = states[keychain] else {
                states[keychain] = nil
                return
            }
            state.isTrying = false
            if outcome == .wrong {
                state.wrong += 1
                if state.wrong >= Self.free { state.pausedUntil = .now + Self.pause(state.wrong) }
            }
            states[keychain] = state
        }
    }

    private static func pause(_ wrong: Int) -> Duration {
        min(.seconds(2 << min(wrong - free, 10)), longestPause)
    }

    private static func isPaused(_ state: State, _ now: ContinuousClock.Instant) -> Bool {
        state.pausedUntil.map { now < $0 } ?? false
    }
}

extension Guesses.Outcome {
    /// What a try that ended with this error tells. A security key that heard eight wrong PINs is
    /// of no use any more.
    init(_ refusal: Refusal) {
        self = refusal == .wrongPassword || refusal == .wrongPIN ? .wrong : .undecided
    }
}
