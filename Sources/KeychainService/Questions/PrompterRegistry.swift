// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import KeychainModel
internal import LocalSocket
internal import LoginManager
internal import Secrets

/// The prompters that wait for questions: one for each login session, and those that were started
/// for a single question.
///
/// Only the installed `keychain-prompter` may register: it is setgid, and the kernel reports the
/// group of whoever connects.
final class PrompterRegistry: @unchecked Sendable {
    /// What makes two processes share a prompter.
    enum Scope: Hashable, Sendable {
        case session(SessionID)
        /// By the name that logind gave the login: what a service manager started knows no other.
        case display(user: UInt32, login: String)
        case terminal(user: UInt32, device: UInt32)
    }

    private struct Awaited {
        let user: UInt32
        let terminal: UInt32
        var prompter: Prompter?
    }

    static let challengeBytes = 16
    private static let mostAwaited = 64

    private let condition = NSCondition()
    private var registered: [Scope: Prompter] = [:]
    private var awaited: [[UInt8]: Awaited] = [:]

    static func scopes(of caller: Caller) -> [Scope] {
        var scopes: [Scope] = []
        if let login = caller.display {
            scopes.append(.display(user: caller.user, login: login))
        }
        if let session = caller.session { scopes.append(.session(session)) }
        if let terminal = caller.terminal {
            scopes.append(.terminal(user: caller.user, device: terminal))
        }
        return scopes
    }

    /// Keeps a prompter for its session until it hangs up; refused while another is there.
    func register(_ prompter: Prompter, for caller: Caller) throws(Refusal) {
        guard let scope = Self.scopes(of: caller).first else { throw .noSession }
        condition.lock()
        defer { condition.unlock() }
        if let other = registered[scope], other.isAlive { throw .duplicate }
        registered[scope] = prompter
    }

    /// Nobody sees the windows of a login that another has taken the screen from.
    private static func isInFront(_ scope: Scope) -> Bool {
        guard case .display(_, let login) = scope else { return true }
        return LoginSessions.isActive(login) == true
    }

    func unregister(_ prompter: Prompter) {
        condition.lock()
        defer { condition.unlock() }
        registered = registered.filter { $0.value !== prompter }
    }

    func prompter(for caller: Caller) -> Prompter? {
        condition.lock()
        defer { condition.unlock() }
        for scope in Self.scopes(of: caller) {
            if let prompter = registered[scope], prompter.isAlive, prompter.user == caller.user,
                Self.isInFront(scope)
            {
                return prompter
            }
        }
        return nil
    }

    // MARK: Prompters for one question

    /// A name under which a prompter on this terminal of this user may attach, once.
    func expect(user: UInt32, terminal: UInt32) throws(Refusal) -> [UInt8] {
        condition.lock()
        defer { condition.unlock() }
        guard awaited.count < Self.mostAwaited else { throw .tooManyRequests }
        let challenge = RandomBytes.make(Self.challengeBytes)
        awaited[challenge] = Awaited(user: user, terminal: terminal, prompter: nil)
        return challenge
    }

    func attach(
        _ prompter: Prompter, challenge: [UInt8], for caller: Caller
    ) throws(Refusal) {
        condition.lock()
        defer { condition.unlock() }
        guard let expected = awaited[challenge], expected.prompter == nil,
            expected.user == caller.user, expected.terminal == caller.terminal
        else { throw .notFound }
        awaited[challenge]?.prompter = prompter
        condition.broadcast()
    }

    /// Waits until the expected prompter is there, nobody waits for it any more, or time is up.
    func arrival(
        of challenge: [UInt8], within seconds: TimeInterval, unless isGone: () -> Bool
    ) -> Prompter? {
        condition.lock()
        defer {
            awaited[challenge] = nil
            condition.unlock()
        }
        let deadline = Date(timeIntervalSinceNow: seconds)
        while awaited[challenge]?.prompter == nil {
            if Date() >= deadline || isGone() { return nil }
            _ = condition.wait(until: min(deadline, Date(timeIntervalSinceNow: 0.2)))
        }
        return awaited[challenge]?.prompter
    }
}
