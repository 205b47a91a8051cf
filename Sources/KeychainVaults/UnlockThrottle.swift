// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
internal import Synchronization

/// Slows down guesses at passwords: one try of a keychain at a time, and after three wrong ones a
/// growing pause. One instance counts for all ways in which a password can come. A right password
/// for one keychain says nothing about another. A password that PAM has verified is no guess, and
/// is not counted.
package final class UnlockThrottle: Sendable {
    package enum Outcome: Sendable {
        case right
        case wrong
        /// The password was not tried, or something else failed: the try counts neither as right
        /// nor as wrong.
        case undecided
    }

    private struct State {
        var isTrying = false
        var tally = GuessTally()
    }
    private let states = Mutex<[KeychainID: State]>([:])

    package init() {}

    /// Each call that doesn't throw must be followed by an `end`.
    package func begin(_ keychain: KeychainID) throws(RequestError) {
        let allowed = states.withLock { states in
            var state = states[keychain] ?? State()
            guard !state.isTrying, !state.tally.isPaused else { return false }
            state.isTrying = true
            states[keychain] = state
            return true
        }
        guard allowed else { throw .refused(.tooManyRequests) }
    }

    package func end(_ keychain: KeychainID, _ outcome: Outcome) {
        states.withLock { states in
            guard outcome != .right, var state = states[keychain] else {
                states[keychain] = nil
                return
            }
            state.isTrying = false
            if outcome == .wrong { state.tally.addWrong() }
            states[keychain] = state
        }
    }
}

extension UnlockThrottle.Outcome {
    /// The outcome of a try that ended with this error. A wrong PIN counts, as a security key stops
    /// working after eight.
    package init(_ error: RequestError) {
        self =
            error == .refused(.wrongPassword) || error == .refused(.wrongPIN) ? .wrong : .undecided
    }
}
