// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import Synchronization

/// Keeps programs from wearing a user out with questions: ten a minute for each user, and a pause
/// after each one that failed.
final class QuestionBudget: Sendable {
    private static let most = 10
    private static let window: Duration = .seconds(60)
    /// Wrong answers cost at least this much time.
    private static let pauseAfterFailure: Duration = .seconds(2)

    private struct State {
        var asked: [ContinuousClock.Instant] = []
        var pausedUntil: ContinuousClock.Instant?
    }
    private let states = Mutex<[UInt32: State]>([:])

    func take(_ user: UInt32) throws(Refusal) {
        let allowed = states.withLock { states in
            let now = ContinuousClock.now
            var state = states[user] ?? State()
            state.asked.removeAll { $0 + Self.window < now }
            guard state.asked.count < Self.most, !Self.isPaused(state, now) else { return false }
            state.asked.append(now)
            states[user] = state
            return true
        }
        guard allowed else { throw .tooManyRequests }
    }

    /// After a wrong answer, or a "no".
    func pause(_ user: UInt32) {
        states.withLock { $0[user]?.pausedUntil = .now + Self.pauseAfterFailure }
    }

    private static func isPaused(_ state: State, _ now: ContinuousClock.Instant) -> Bool {
        state.pausedUntil.map { now < $0 } ?? false
    }
}
