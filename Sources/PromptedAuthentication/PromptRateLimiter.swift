// SPDX-License-Identifier: Apache-2.0
internal import CallerIdentity
internal import KeychainModel
internal import Synchronization

/// Keeps programs from wearing a user out with questions, and from guessing the answers. There is a
/// limit of questions a minute in one place. A pause follows each question with a wrong answer, and
/// doubles until a right one comes. A longer pause follows a program's denials, about the same
/// items or all in all.
///
/// Some of a place's questions are left for programs that have asked few, so that a program which
/// asks again and again does not silence the others. Programs of weak names count as one: a copy of
/// a file would be another program, and an interpreter is as many programs as it has scripts.
///
/// A question costs its pause from the moment it is shown until an answer shows that it was no
/// guess: otherwise all questions shown at once would be free. A denial counts only in the place
/// where it was given, so that a program that denies on a terminal of its own silences no other
/// program. Guesses are counted for all of a user's terminals together, since a program can make
/// any number of terminals, and separately for the desktop. Each terminal on which the user has
/// given a proof is counted by itself, as a program can't give one on a terminal of its own:
/// guesses made elsewhere hold up no question there.
///
/// The counts last while the daemon runs. A user's counts take bounded memory.
final class PromptRateLimiter: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// The program that asks, the place, and the subject of the question.
    struct Matter: Sendable {
        let user: UInt32
        let program: String
        /// How well the program's name is guarded; nil for a program without a name.
        let strength: ProgramStrength?
        let place: PrompterPlace
        let items: [ItemReference]
        /// The keychain to be opened, where the question is about all of it. Denials about it count
        /// for all programs together.
        var keychain: String?
        /// What else the question would change (`Question.change`).
        var change: String?

        /// The program, as one of those that share the questions of a place.
        fileprivate var asker: String {
            guard let strength, strength > .weak else { return "" }
            return program
        }
    }

    enum Outcome: Sendable {
        /// PAM has authenticated the user.
        case proven
        /// The user said yes, which proves nothing.
        case agreed
        /// Something was typed that was not right, whether or not the question was cancelled
        /// afterwards.
        case wrong
        case declined
        /// Nothing was typed. A finger that the reader can't read is no guess.
        case undecided
    }

    private static let window: Duration = .seconds(60)
    private static let mostInWindow = 14
    /// Questions of a place left for programs that have asked fewer than `few` there.
    private static let reserve = 4
    private static let few = 4
    private static let mostInAll = 60
    /// A wrong answer or a denial costs at least this much time.
    private static let shortestPause: Duration = .seconds(2)
    private static let longestPause: Duration = .seconds(300)
    /// The number of denials after which questions stop: the second about the same items, keychain
    /// or change, the fifth of one program.
    private static let patience = (items: 2, program: 5)
    private static let firstSilence: Duration = .seconds(60)
    private static let longestSilence: Duration = .seconds(900)
    /// A denial is remembered for this long after the silence that followed it.
    private static let memory: Duration = .seconds(3600)
    /// The number of items of one question that are counted one by one.
    private static let mostItems = 20
    static let mostSubjects = 512
    static let mostUsers = 1024
    static let mostProven = 32

    private struct Subject: Hashable {
        enum Name: Hashable {
            /// All requests of a program.
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
    /// Limits how fast answers may be guessed.
    private struct Pace {
        var wrong = 0
        var pausedUntil: Instant?
        /// The places of the questions shown now, each of which may be answered wrongly.
        var shown: [PrompterPlace] = []
        var latest: Instant?

        /// When the next question may be shown, as if those shown now were answered wrongly.
        var next: Instant? {
            guard !shown.isEmpty, let latest else { return pausedUntil }
            let pause = doubled(shortestPause, wrong + shown.count - 1, atMost: longestPause)
            return max(pausedUntil ?? latest, latest + pause)
        }
    }
    private struct State {
        var asked: [(at: Instant, place: PrompterPlace, asker: String)] = []
        var terminals = Pace()
        var desktop = Pace()
        /// The paces of terminals on which a proof was given; the one used least recently is
        /// removed first.
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

        /// Ends the count of a shown question, whichever pace it was shown by.
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

    /// Refuses as `begin` would, apart from the pause for questions that are shown now; counts
    /// nothing.
    func check(_ matter: Matter, at now: Instant = .now) throws(RequestError) {
        let isAllowed = states.withLock { states in
            guard let state = states[matter.user] else { return true }
            return Self.allows(matter, state, now)
                && state[pace: matter.place].pausedUntil.map { now >= $0 } ?? true
        }
        guard isAllowed else { throw .refused(.tooManyRequests) }
    }

    /// Whether the question waits for questions shown now in other places than `queue`.
    func isWaiting(
        _ matter: Matter, besides queue: PrompterPlace?, at now: Instant = .now
    ) -> Bool {
        states.withLock { states in
            guard let pace = states[matter.user]?[pace: matter.place] else { return false }
            return pace.shown.contains { $0 != queue } && pace.next.map { now < $0 } ?? false
        }
    }

    /// Counts a question that is shown. Each call that does not throw needs an `end`.
    func begin(_ matter: Matter, at now: Instant = .now) throws(RequestError) {
        let isAllowed = states.withLock { states in
            var state = states[matter.user] ?? State(latest: now)
            state.asked.removeAll { $0.at + Self.window < now }
            guard Self.allows(matter, state, now),
                state[pace: matter.place].next.map({ now >= $0 }) ?? true
            else { return false }
            state.asked.append((now, matter.place, matter.asker))
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
        let here = recent.filter { $0.place == matter.place }
        let own = here.count(where: { $0.asker == matter.asker })
        return hasRoom
            && here.count < (own < few ? mostInWindow : mostInWindow - reserve)
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

    // MARK: Denials

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
                // The subject with the fewest denials is forgotten first.
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
