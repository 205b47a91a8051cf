// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
internal import Synchronization

/// Slows down those who try passwords: one try of a keychain at a time, and after three wrong ones
/// a growing pause before the next is looked at. One instance counts for all the ways a password
/// can come: a right password for one keychain says nothing about another. A password that PAM has
/// verified is no guess, and never comes here.
package final class UnlockThrottle: Sendable {
    package enum Outcome: Sendable {
        case right
        case wrong
        /// It was not looked at, or something else failed: neither for nor against the user who
        /// tried.
        case undecided
    }

    private struct State {
        var isTrying = false
        var tally = GuessTally()
    }
    private let states = Mutex<[KeychainID: State]>([:])

    package init() {}

    /// Each that does not throw is followed by an `end`.
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
    /// What a try that ended with this error tells. A security key that heard eight wrong PINs is
    /// of no use any more.
    package init(_ error: RequestError) {
        self =
            error == .refused(.wrongPassword) || error == .refused(.wrongPIN) ? .wrong : .undecided
    }
}
