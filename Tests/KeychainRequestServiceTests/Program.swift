// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainMessages
import KeychainModel
import KeychainPolicyEngine
import KeychainPolicyModel
import KeychainSecrets
import Synchronization

@testable import KeychainRequestService

/// A program that asks, from a process, a terminal and a login of the test's choice.
struct Program: Asker {
    static let git = Program("/usr/bin/git", process: 10)
    static let tool = Program("/usr/bin/keychainctl", process: 20)

    var caller: Caller
    var context: AuthenticationContext?
    var process: EvidencePlaces.Process?
    /// Ids of its ancestors.
    var ancestors: [Int32] = []
    var offersTerminal: Bool { caller.terminal != nil }
    let notes = RequestNotes()
    private let path: String

    init(
        _ path: String, process: Int32, terminal: UInt32? = nil, session: Int32? = 7,
        groups: [String] = []
    ) {
        self.path = path
        caller = Caller(
            user: geteuid(), process: process, identity: .trustedExecutable(path),
            session: session.map(SessionID.init), terminal: terminal,
            accessGroups: ["exe:" + path] + groups)
        self.process = Self.place(process)
    }

    private static func place(_ id: Int32) -> EvidencePlaces.Process {
        .init(id: id, startTime: 99, executableDevice: 1, executableInode: 2)
    }

    func terminal() -> EvidencePlaces.Terminal? {
        caller.terminal.map { .init(device: $0, leader: Int32($0), leaderStart: 6) }
    }

    func descends(from process: EvidencePlaces.Process) -> Bool {
        ancestors.contains { Self.place($0) == process }
    }

    func policyFacts(_ asked: AskedFacts) -> PolicyFacts {
        var facts = PolicyFacts()
        facts.uid = .known(1000)
        facts[.user] = .known(["a"])
        facts[.exe] = .known([PolicyText(path)])
        facts[.trustedExe] = .known(true)
        facts[.session] = .known(0)
        return facts
    }

    func reach(
        _ policy: CompiledPolicy, for operation: PolicyOperation, byNameAlone: Bool
    ) -> VisibleGroups {
        policy.reach(policyFacts(policy.asked), for: operation, byNameAlone: byNameAlone)
    }

    func isUnchanged() -> Bool { true }
    func hasGone() -> Bool { false }
    func startPrompter(challenge: [UInt8]) -> Bool { false }
}

/// A user who answers every question, and remembers what was asked.
final class Person: Authenticator {
    private struct State {
        var isThere = true
        var questions: [String] = []
        var meanwhile: (@Sendable () -> Void)?
    }
    private let state = Mutex(State())

    var questions: [String] { state.withLock { $0.questions } }
    func leaves() { state.withLock { $0.isThere = false } }
    /// Runs while the next question is open.
    func meanwhile(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.meanwhile = body }
    }

    func canAsk(for asker: any Asker) -> Bool { state.withLock { $0.isThere } }
    func hasPrompter(for caller: Caller) -> Bool { false }
    func provable(for caller: Caller) -> Set<PolicyMethod> {
        [.factor(.presence), .factor(.passcode)]
    }
    func hasBiometryService() -> Bool { false }
    func enrolledBiometry(of caller: Caller) -> [UInt8] { [] }

    func prove(
        _ method: PolicyMethod, _ question: Question, for asker: any Asker
    ) throws(Refusal) {
        let meanwhile = state.withLock { state in
            state.questions.append("\(method.service ?? "") \(question.text(for: asker.caller))")
            defer { state.meanwhile = nil }
            return state.meanwhile
        }
        meanwhile?()
    }

    func ask(
        _ prompt: String, _ question: Question, for asker: any Asker
    ) throws(Refusal) -> HeldSecret { throw .interactionNotAllowed }

    func open(
        _ prompt: String, _ question: Question, for asker: any Asker, unless isOpen: () -> Bool,
        with opens: (HeldSecret) throws(Refusal) -> Bool
    ) throws(Refusal) { throw .interactionNotAllowed }

    func letIn(
        for asker: any Asker, _ candidate: () -> (question: Question, offer: TrustOffer)?
    ) throws(Refusal) -> TrustAnswer? { throw .interactionNotAllowed }
}
