// SPDX-License-Identifier: Apache-2.0
package import CallerIdentity
package import KeychainModel
internal import KeychainLinuxSystem
internal import LoginManager
internal import KeychainSecrets

/// The prompters that wait for questions: one for each display and each terminal, and prompters
/// that were started for a single question.
///
/// Only the installed `keychain-prompter` may register: it is setgid, and the kernel reports the
/// group of the process that connects.
package final class PrompterRegistry: @unchecked Sendable {
    private struct Awaited {
        let user: UInt32
        let place: PrompterPlace
        var prompter: Prompter?
    }

    static let challengeBytes = 16
    /// A program may promise prompters and start none, and each is awaited for some seconds: the bound
    /// for one user leaves room for the others.
    private static let mostAwaitedOfUser = 16
    private static let mostAwaited = 512
    /// `keychain-prompter` registers again a second after it was hung up.
    static let returnsWithin: Duration = .seconds(3)

    private let condition = Condition()
    private var registered: [PrompterPlace: Prompter] = [:]
    private var awaited: [[UInt8]: Awaited] = [:]
    /// Until when a prompter that was hung up may register again at its place.
    private var returning: [PrompterPlace: ContinuousClock.Instant] = [:]

    package init() {}

    /// Keeps a prompter for its place until it hangs up; refused while another one is alive there.
    package func register(_ prompter: Prompter) throws(RequestError) {
        guard let place = prompter.place else { throw .state(.noSession) }
        condition.lock()
        defer { condition.unlock() }
        if let other = registered[place], other.isAlive { throw .state(.duplicate) }
        registered[place] = prompter
        returning[place] = nil
        condition.broadcast()
    }

    /// False for a display whose login is not active: its user can't see its windows.
    private static func isInFront(_ place: PrompterPlace) -> Bool {
        guard case .display(_, let login) = place else { return true }
        return LoginSessions.isActive(login) == true
    }

    package func unregister(_ prompter: Prompter) {
        condition.lock()
        defer { condition.unlock() }
        returning = returning.filter { ContinuousClock.now < $0.value }
        for (place, one) in registered where one === prompter {
            registered[place] = nil
            returning[place] = prompter.hungUpAt.map { $0 + Self.returnsWithin }
        }
    }

    /// The prompter that shows the caller's questions. Waits for one that was hung up to register
    /// again: a program could end its own questions to have all others refused.
    package func prompter(for caller: Caller) -> Prompter? {
        let places = PrompterPlace.all(for: caller)
        while true {
            // Checked without the lock, as logind may take long to answer.
            let found = registered(at: places).first {
                $0.prompter.canAsk && $0.prompter.user == caller.user && Self.isInFront($0.place)
            }
            if let found { return found.prompter }
            guard waitForReturn(to: places) else { return nil }
        }
    }

    /// Waits a moment, and returns false at once where no prompter is to register again at any of
    /// the places.
    func waitForReturn(to places: [PrompterPlace]) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        let ends = places.compactMap { place in
            registered[place]?.hungUpAt.map { $0 + Self.returnsWithin } ?? returning[place]
        }
        guard let end = ends.max(), ContinuousClock.now < end else { return false }
        _ = condition.wait(until: min(end, .now + .milliseconds(200)))
        return true
    }

    private func registered(
        at places: [PrompterPlace]
    ) -> [(place: PrompterPlace, prompter: Prompter)] {
        condition.lock()
        defer { condition.unlock() }
        return places.compactMap { place in registered[place].map { (place, $0) } }
    }

    // MARK: Prompters for one question

    /// Returns a challenge with which a prompter of the user's at the place may attach, once.
    package func expect(
        at place: PrompterPlace, for user: UInt32
    ) throws(RequestError) -> [UInt8] {
        condition.lock()
        defer { condition.unlock() }
        guard awaited.values.count(where: { $0.user == user }) < Self.mostAwaitedOfUser,
            awaited.count < Self.mostAwaited
        else { throw .refused(.tooManyRequests) }
        let challenge = RandomBytes.make(Self.challengeBytes)
        awaited[challenge] = Awaited(user: user, place: place, prompter: nil)
        return challenge
    }

    package func attach(_ prompter: Prompter, challenge: [UInt8]) throws(RequestError) {
        condition.lock()
        defer { condition.unlock() }
        guard let expected = awaited[challenge], expected.prompter == nil,
            expected.place == prompter.place
        else { throw .state(.notFound) }
        awaited[challenge]?.prompter = prompter
        condition.broadcast()
    }

    /// Waits until the expected prompter has attached, the client no longer waits, or time is up.
    func arrival(
        of challenge: [UInt8], within time: Duration, unless isGone: () -> Bool
    ) -> Prompter? {
        condition.lock()
        defer {
            awaited[challenge] = nil
            condition.unlock()
        }
        let deadline = ContinuousClock.now + time
        while awaited[challenge]?.prompter == nil {
            if ContinuousClock.now >= deadline || isGone() { return nil }
            _ = condition.wait(until: min(deadline, .now + .milliseconds(200)))
        }
        return awaited[challenge]?.prompter
    }
}
