// SPDX-License-Identifier: Apache-2.0
internal import CallerIdentity
internal import KeychainModel
internal import Synchronization

/// Keeps programs from wearing a user out with questions, and from guessing the answers: so many
/// questions a minute in one place; a pause after each question with a wrong answer, which doubles
/// until a right one comes; and a longer one for a program that has heard no, about the same items
/// or all in all.
///
/// A question costs its pause from the moment it is shown until an answer shows that it was no
/// guess: otherwise all that are shown at once would be free. A no is heard where it was said, so
/// that no program is silenced by what another answers on a terminal of its own. Guesses are
/// counted for all of a user's terminals, since programs make as many as they like, and for the
/// desktop apart; and for each terminal apart on which the user has proven to be the user, which no
/// program can do on one of its own: what is guessed elsewhere holds up no question there.
///
/// Counts while the daemon runs. Whatever programs do, a user's counts take bounded memory.
final class PromptRateLimiter: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// Which program asks, where, and about what.
    struct Matter: Sendable {
        let user: UInt32
        let program: String
        let place: PrompterPlace
        let items: [ItemReference]
        /// The keychain that is to be opened, where the question is about all of it: by whichever
        /// program.
        var keychain: String?
        /// What else it would change (`Question.change`).
        var change: String?
    }

    enum Outcome: Sendable {
        /// PAM says that it is the user.
        case proven
        /// The user said yes, which proves nothing.
        case agreed
        /// Something was typed, and it was not right: broken off or not.
        case wrong
        case declined
        /// Nothing was typed. A wet finger is no guess.
        case undecided
    }

    private static let window: Duration = .seconds(60)
    private static let mostInWindow = 10
    private static let mostInAll = 60
    /// Wrong answers and a no cost at least this much time.
    private static let shortestPause: Duration = .seconds(2)
    private static let longestPause: Duration = .seconds(300)
    /// The second no about the same items, keychain or change is taken for an answer; of one program
    /// the fifth.
    private static let patience = (items: 2, program: 5)
    private static let firstSilence: Duration = .seconds(60)
    private static let longestSilence: Duration = .seconds(900)
    /// A no is remembered so long after the silence that followed it.
    private static let memory: Duration = .seconds(3600)
    /// Items of one question that are counted by themselves.
    private static let mostItems = 20
    static let mostSubjects = 512
    static let mostUsers = 1024
    static let mostProven = 32

    private struct Subject: Hashable {
        enum Name: Hashable {
            /// All that it asks for.
            case program(String)
            case item(ItemReference, of: String)
            case keychain(String)
            case change(String, of: String)
        }
        let name: Name
        let place: PrompterPlace

        var patience: Int {
            if case .program = name { return PromptRateLimiter.patience.program }
            return PromptRateLimiter.patience.items
        }
    }
    private struct Denials {
        var count = 0
        var silentUntil: Instant
    }
    /// How fast answers may be guessed.
    private struct Pace {
        var wrong = 0
        var pausedUntil: Instant?
        /// Where questions are shown, each of which may be answered wrongly.
        var shown: [PrompterPlace] = []
        var latest: Instant?

        /// When the next may be shown, as if those that are shown were answered wrongly.
        var next: Instant? {
            guard !shown.isEmpty, let latest else { return pausedUntil }
            let pause = doubled(shortestPause, wrong + shown.count - 1, atMost: longestPause)
            return max(pausedUntil ?? latest, latest + pause)
        }
    }
    private struct State {
        var asked: [(at: Instant, place: PrompterPlace)] = []
        var terminals = Pace()
        var desktop = Pace()
        /// Of terminals on which something was proven; the one that asked least lately gives way.
        var proven: [PrompterPlace: Pace] = [:]
        var denials: [Subject: Denials] = [:]
        var latest: Instant

        /// A terminal on which nothing was proven.
        func isUnproven(_ place: PrompterPlace) -> Bool {
            place.isTerminal && proven[place] == nil
        }

        subscript(pace place: PrompterPlace) -> Pace {
            get { proven[place] ?? (place.isTerminal ? terminals : desktop) }
            set {
                if proven[place] != nil {
                    proven[place] = newValue
                } else if place.isTerminal {
                    terminals = newValue
                } else {
                    desktop = newValue
                }
            }
        }

        /// The question is shown no more, whichever pace it was shown by.
        mutating func close(_ place: PrompterPlace) {
            if let shown = self[pace: place].shown.firstIndex(of: place) {
                self[pace: place].shown.remove(at: shown)
            } else if let shown = terminals.shown.firstIndex(of: place) {
                terminals.shown.remove(at: shown)
            }
        }

        mutating func prove(_ place: PrompterPlace, _ now: Instant) {
            guard place.isTerminal, proven[place] == nil else { return }
            if proven.count >= PromptRateLimiter.mostProven {
                let stale = proven.min { ($0.value.latest ?? now) < ($1.value.latest ?? now) }
                if let stale { proven[stale.key] = nil }
            }
            proven[place] = Pace(latest: now)
        }
    }
    private let states = Mutex<[UInt32: State]>([:])

    /// Refuses what `begin` would refuse; counts nothing.
    func check(_ matter: Matter, at now: Instant = .now) throws(RequestError) {
        let isAllowed = states.withLock { states in
            guard let state = states[matter.user] else { return true }
            return Self.allows(matter, state, now)
                && state[pace: matter.place].pausedUntil.map { now >= $0 } ?? true
        }
        guard isAllowed else { throw .refused(.tooManyRequests) }
    }

    /// Whether it waits for others that are shown just now, in other places than `queue`.
    func isWaiting(
        _ matter: Matter, besides queue: PrompterPlace?, at now: Instant = .now
    ) -> Bool {
        states.withLock { states in
            guard let pace = states[matter.user]?[pace: matter.place] else { return false }
            return pace.shown.contains { $0 != queue } && pace.next.map { now < $0 } ?? false
        }
    }

    /// A question is shown. Each that does not throw is followed by an `end`.
    func begin(_ matter: Matter, at now: Instant = .now) throws(RequestError) {
        let isAllowed = states.withLock { states in
            var state = states[matter.user] ?? State(latest: now)
            state.asked.removeAll { $0.at + Self.window < now }
            guard Self.allows(matter, state, now),
                state[pace: matter.place].next.map({ now >= $0 }) ?? true
            else { return false }
            state.asked.append((now, matter.place))
            state.latest = now
            state[pace: matter.place].shown.append(matter.place)
            state[pace: matter.place].latest = now
            if states[matter.user] == nil, states.count >= Self.mostUsers {
                let oldest = states.min { $0.value.latest < $1.value.latest }
                if let oldest { states[oldest.key] = nil }
            }
            states[matter.user] = state
            return true
        }
        guard isAllowed else { throw .refused(.tooManyRequests) }
    }

    private static func allows(_ matter: Matter, _ state: State, _ now: Instant) -> Bool {
        let recent = state.asked.filter { $0.at + window >= now }
        // Any program can ask on terminals of its own making. So those have one limit for all, and
        // what it asks there leaves the desktop and proven terminals as they are.
        let hasRoom =
            !state.isUnproven(matter.place)
            || recent.count(where: { state.isUnproven($0.place) }) < mostInAll
        return hasRoom
            && recent.count(where: { $0.place == matter.place }) < mostInWindow
            && subjects(of: matter).allSatisfy { subject in
                state.denials[subject].map { now >= $0.silentUntil } ?? true
            }
    }

    func end(_ matter: Matter, _ outcome: Outcome, at now: Instant = .now) {
        states.withLock { states in
            guard var state = states[matter.user] else { return }
            state.close(matter.place)
            var pace = state[pace: matter.place]
            switch outcome {
            case .undecided: break
            case .proven:
                pace.wrong = 0
                Self.forgive(matter, &state)
            case .agreed: Self.forgive(matter, &state)
            case .wrong:
                let pause = Self.doubled(
                    Self.shortestPause, pace.wrong, atMost: Self.longestPause)
                pace.pausedUntil = max(pace.pausedUntil ?? now, now + pause)
                pace.wrong += 1
                Self.remember(matter, &state, now)
            case .declined:
                pace.pausedUntil = max(pace.pausedUntil ?? now, now + Self.shortestPause)
                Self.remember(matter, &state, now)
            }
            state[pace: matter.place] = pace
            if outcome == .proven { state.prove(matter.place, now) }
            states[matter.user] = state
        }
    }

    // MARK: What was denied

    private static func subjects(of matter: Matter) -> [Subject] {
        let items = matter.items.prefix(mostItems).map {
            Subject.Name.item($0, of: matter.program)
        }
        let keychain = matter.keychain.map { Subject.Name.keychain($0) }
        let change = matter.change.map { Subject.Name.change($0, of: matter.program) }
        return ([.program(matter.program)] + items + [keychain, change].compactMap { $0 })
            .map { Subject(name: $0, place: matter.place) }
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
