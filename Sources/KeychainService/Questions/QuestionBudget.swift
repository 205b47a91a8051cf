// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import Synchronization

/// Keeps programs from wearing a user out with questions, and from guessing the answers: so many
/// questions a minute; a pause after wrong answers, which grows until a right one comes; and a
/// longer one for a program that has heard no, about the same items or all in all.
///
/// Counts while the daemon runs. Whatever programs do, a user's counts take bounded memory.
final class QuestionBudget: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// Who asks, and about what.
    struct Matter: Sendable {
        let user: UInt32
        let program: String
        let items: [ItemReference]
        /// The keychain that is to be opened, where it is about all of it: whoever asks.
        var keychain: String?
    }

    enum Outcome: Sendable {
        /// PAM says that it is the user.
        case proven
        /// He said yes, which proves nothing.
        case agreed
        /// Something was typed, and it was not right: broken off or not.
        case wrong
        case declined
        /// Nothing was typed. A wet finger is no guess.
        case undecided
    }

    private static let window: Duration = .seconds(60)
    private static let mostInWindow = 10
    /// Wrong answers and a no cost at least this much time.
    private static let shortestPause: Duration = .seconds(2)
    private static let longestPause: Duration = .seconds(300)
    /// The second no about the same items or keychain is taken for an answer; of one program the
    /// fifth.
    private static let patience = (items: 2, program: 5)
    private static let firstSilence: Duration = .seconds(60)
    private static let longestSilence: Duration = .seconds(900)
    /// A no is remembered so long after the silence that followed it.
    private static let memory: Duration = .seconds(3600)
    /// Items of one question that are counted by themselves.
    private static let mostItems = 20
    static let mostSubjects = 512
    static let mostUsers = 1024

    private enum Subject: Hashable {
        /// All that it asks for.
        case program(String)
        case item(ItemReference, of: String)
        case keychain(String)

        var patience: Int {
            if case .program = self { return QuestionBudget.patience.program }
            return QuestionBudget.patience.items
        }
    }
    private struct Denials {
        var count = 0
        var silentUntil: Instant
    }
    private struct State {
        var asked: [Instant] = []
        var wrong = 0
        var pausedUntil: Instant?
        var denials: [Subject: Denials] = [:]
        var latest: Instant
    }
    private let states = Mutex<[UInt32: State]>([:])

    /// Each that does not throw is followed by an `end`.
    func begin(_ matter: Matter, at now: Instant = .now) throws(Refusal) {
        let isAllowed = states.withLock { states in
            var state = states[matter.user] ?? State(latest: now)
            state.asked.removeAll { $0 + Self.window < now }
            guard state.asked.count < Self.mostInWindow,
                state.pausedUntil.map({ now >= $0 }) ?? true,
                Self.subjects(of: matter).allSatisfy({ subject in
                    state.denials[subject].map { now >= $0.silentUntil } ?? true
                })
            else { return false }
            state.asked.append(now)
            state.latest = now
            if states[matter.user] == nil, states.count >= Self.mostUsers {
                let oldest = states.min { $0.value.latest < $1.value.latest }
                if let oldest { states[oldest.key] = nil }
            }
            states[matter.user] = state
            return true
        }
        guard isAllowed else { throw .tooManyRequests }
    }

    func end(_ matter: Matter, _ outcome: Outcome, at now: Instant = .now) {
        states.withLock { states in
            guard var state = states[matter.user] else { return }
            switch outcome {
            case .undecided: return
            case .proven:
                state.wrong = 0
                Self.forgive(matter, &state)
            case .agreed: Self.forgive(matter, &state)
            case .wrong:
                state.pausedUntil =
                    now
                    + Self.doubled(
                        Self.shortestPause, state.wrong, atMost: Self.longestPause)
                state.wrong += 1
                Self.remember(matter, &state, now)
            case .declined:
                state.pausedUntil = max(state.pausedUntil ?? now, now + Self.shortestPause)
                Self.remember(matter, &state, now)
            }
            states[matter.user] = state
        }
    }

    // MARK: What was denied

    private static func subjects(of matter: Matter) -> [Subject] {
        [.program(matter.program)]
            + matter.items.prefix(mostItems).map { .item($0, of: matter.program) }
            + [matter.keychain.map { .keychain($0) }].compactMap { $0 }
    }

    private static func forgive(_ matter: Matter, _ state: inout State) {
        for subject in subjects(of: matter) { state.denials[subject] = nil }
    }

    private static func remember(_ matter: Matter, _ state: inout State, _ now: Instant) {
        state.denials = state.denials.filter { now < $0.value.silentUntil + memory }
        for subject in subjects(of: matter) {
            var denials = state.denials[subject] ?? Denials(silentUntil: now)
            denials.count += 1
            let surplus = denials.count - subject.patience
            if surplus >= 0 {
                denials.silentUntil = now + doubled(firstSilence, surplus, atMost: longestSilence)
            }
            if state.denials[subject] == nil, state.denials.count >= mostSubjects {
                // The one that has the least to say.
                let least = state.denials.min {
                    ($0.value.count, $0.value.silentUntil) < ($1.value.count, $1.value.silentUntil)
                }
                if let least { state.denials[least.key] = nil }
            }
            state.denials[subject] = denials
        }
    }

    private static func doubled(
        _ duration: Duration, _ times: Int, atMost longest: Duration
    ) -> Duration {
        min(duration * (1 << min(times, 16)), longest)
    }
}
