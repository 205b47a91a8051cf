// SPDX-License-Identifier: Apache-2.0
import KeychainAccessControl
import Foundation
import KeychainMessages
import KeychainModel
import KeychainPolicyEngine
import KeychainPolicyModel
import KeychainSecrets
import Synchronization

@testable import KeychainRequestAudit
@testable import KeychainUserPresence
@testable import KeychainVaults

/// A program that asks, from a process, a terminal and a login of the test's choice.
struct Program: Client {
    static let git = Program("/usr/bin/git", process: 10)
    static let tool = Program("/usr/bin/keychainctl", process: 20)

    var caller: Caller
    var context: AuthenticationContext?
    var process: ProofOrigin.Process?
    /// Ids of its ancestors.
    var ancestors: [Int32] = []
    var offersTerminal: Bool { caller.terminal != nil }
    let notes = RequestNotes()
    /// The process that brings it.
    var deputy: Int32?
    /// Where the machine's keychain is open, if not in the process that serves the program.
    var machine: (any MachineSearch)?
    /// Ends when another program takes the process over.
    let isSame = Flag()
    let path: String
    private let looks = Counter()
    /// How often a request has looked at what policies ask about the program.
    var looksAtFacts: Int { looks.count }

    init(
        _ path: String, process: Int32, terminal: UInt32? = nil, session: Int32? = 7,
        groups: [String] = [], via: Caller.Via? = nil
    ) {
        self.path = path
        caller = Caller(
            user: geteuid(), process: process, identity: .trustedExecutable(path),
            session: session.map(SessionID.init), terminal: terminal,
            accessGroups: ["exe:" + path] + groups, via: via)
        self.process = Self.place(process)
    }

    private static func place(_ id: Int32) -> ProofOrigin.Process {
        .init(id: id, startTime: 99, executableDevice: 1, executableInode: 2)
    }

    func terminal() -> ProofOrigin.Terminal? {
        caller.terminal.map { .init(device: $0, leader: Int32($0), leaderStart: 6) }
    }

    func descends(from process: ProofOrigin.Process) -> Bool {
        ancestors.contains { Self.place($0) == process }
    }

    func policyFacts(_ asked: AskedFacts) -> PolicyFacts {
        if asked != .told, asked != .toldAtOnce { looks.add() }
        return facts
    }

    private var facts: PolicyFacts {
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
        policy.reach(facts, for: operation, byNameAlone: byNameAlone)
    }

    func isUnchanged() -> Bool { isSame.holds }
    func hasGone() -> Bool { false }
    func startPrompter(challenge: [UInt8]) -> Bool { false }
}

final class Counter: Sendable {
    private let value = Mutex(0)
    var count: Int { value.withLock { $0 } }
    func add() { value.withLock { $0 += 1 } }
}

/// What is so until it is ended.
final class Flag: Sendable {
    private let value = Mutex(true)
    var holds: Bool { value.withLock { $0 } }
    func end() { value.withLock { $0 = false } }
}

/// A user who answers every question, and remembers what was asked.
final class Person: Authenticator {
    private struct State {
        var isThere = true
        var typed: HeldSecret?
        var choice: TrustChoice?
        var provable: Set<PolicyMethod> = [
            .factor(.presence), .factor(.passcode), .approvals(besides: "alice"),
        ]
        var questions: [String] = []
        var meanwhile: (@Sendable () -> Void)?
    }
    private let state = Mutex(State())
    private let looks = Counter()

    /// How often a request has looked at what the user could prove.
    var looksAtProvable: Int { looks.count }
    var questions: [String] { state.withLock { $0.questions } }
    func leaves() { state.withLock { $0.isThere = false } }
    func comesBack() { state.withLock { $0.isThere = true } }
    /// What the user types where no proof is asked for.
    func types(_ typed: HeldSecret) { state.withLock { $0.typed = typed } }
    /// What the user says to a program that asks for another one's item.
    func chooses(_ choice: TrustChoice) { state.withLock { $0.choice = choice } }
    /// No proof can be given on this machine any more.
    func canProveNothing() { state.withLock { $0.provable = [] } }
    /// What was asked so far.
    func forgets() { state.withLock { $0.questions = [] } }
    /// Runs while the next question is open.
    func meanwhile(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.meanwhile = body }
    }

    func canAsk(for client: any Client) -> Bool { state.withLock { $0.isThere } }
    func hasPrompter(for caller: Caller) -> Bool { false }
    func provable(for caller: Caller) -> Set<PolicyMethod> {
        looks.add()
        return state.withLock { $0.provable }
    }
    /// The first of those who may.
    func approval(
        by names: [String], _ question: Question, for client: any Client
    ) throws(RequestError) -> String {
        hears("approval by \(names.joined(separator: ", "))")
        guard let name = names.first else { throw .refused(.authenticationFailed) }
        return name
    }
    func hasBiometryService() -> Bool { false }
    func enrolledBiometry(of caller: Caller) -> [UInt8] { [] }

    func prove(
        _ method: PolicyMethod, _ question: Question, for client: any Client
    ) throws(RequestError) {
        hears("\(method.service ?? "") \(question.text(for: client.caller))")
    }

    private func hears(_ question: String) {
        let meanwhile = state.withLock { state in
            state.questions.append(question)
            defer { state.meanwhile = nil }
            return state.meanwhile
        }
        meanwhile?()
    }

    func ask(
        _ prompt: String, _ question: Question, for client: any Client
    ) throws(RequestError) -> HeldSecret {
        guard let typed = state.withLock({ $0.typed }) else {
            throw .refused(.interactionNotAllowed)
        }
        hears(prompt + question.text(for: client.caller))
        return typed
    }

    func open(
        _ prompt: String, _ question: Question, for client: any Client, unless isOpen: () -> Bool,
        with opens: (HeldSecret) throws(RequestError) -> Bool
    ) throws(RequestError) {
        guard let typed = state.withLock({ $0.typed }) else {
            throw .refused(.interactionNotAllowed)
        }
        hears(prompt + question.text(for: client.caller))
        if isOpen() { return }
        guard try opens(typed) else { throw .refused(.authenticationFailed) }
    }

    func consent(
        for client: any Client, _ candidate: () -> (question: Question, options: ConsentOptions)?
    ) throws(RequestError) -> ConsentResult? {
        guard let choice = state.withLock({ $0.choice }) else {
            throw .refused(.interactionNotAllowed)
        }
        guard let (question, options) = candidate() else { return nil }
        hears(question.text(for: client.caller))
        guard let proof = options.proofs[choice] else { throw .refused(.cancelled) }
        return ConsentResult(choice: choice, proven: proof)
    }
}
