// SPDX-License-Identifier: Apache-2.0
internal import AccessControl
internal import Foundation
internal import KeychainMessages
internal import KeychainModel
internal import LocalSocket
internal import Secrets

/// Runs one PAM transaction in `keychain-auth` and carries its conversation to a prompter. The
/// asking program sees none of it.
final class PromptedAuthenticator: Authenticator {
    /// From the moment the question is shown.
    static let deadline: TimeInterval = 60
    private static let arrivalDeadline: TimeInterval = 10

    private let program: String
    private let prompters: PrompterRegistry
    let budget = QuestionBudget()
    private let services = PAMServices()
    let accounts: AccountNames

    init(
        program: String, prompters: PrompterRegistry, accounts: AccountNames
    ) {
        self.program = program
        self.prompters = prompters
        self.accounts = accounts
    }

    func canAsk(for asker: any Asker) -> Bool {
        prompters.prompter(for: asker.caller) != nil
            || (asker.offersTerminal && asker.caller.terminal != nil)
    }

    func hasPrompter(for caller: Caller) -> Bool { prompters.prompter(for: caller) != nil }

    func provable(for caller: Caller) -> Set<PolicyMethod> {
        var methods = services.methods()
        if enrolledBiometry(of: caller).isEmpty { methods.remove(.factor(.biometry)) }
        return methods
    }

    func hasBiometryService() -> Bool { services.methods().contains(.factor(.biometry)) }

    func enrolledBiometry(of caller: Caller) -> [UInt8] {
        accounts.name(of: caller.user).map(EnrolledBiometry.state(of:)) ?? []
    }

    func prove(
        _ method: PolicyMethod, _ question: Question, for asker: any Asker
    ) throws(Refusal) {
        let user = asker.caller.user
        guard let account = accounts.name(of: user), let service = method.service else {
            throw .authenticationFailed
        }
        let outcome = try withPrompter(for: asker) { prompter throws(Refusal) in
            let outcome = try converse(service, account, question, prompter, asker)
            try? prompter.show(.finished(succeeded: outcome == .success))
            return outcome
        }
        switch outcome {
        case .success: return
        // Nobody has typed anything: a wet finger is no guess.
        case .failed, .unavailable: throw .authenticationFailed
        case .accountRefused, .tooManyTries, .cancelled:
            budget.pause(user)
            throw outcome == .cancelled ? .cancelled : .authenticationFailed
        }
    }

    func ask(
        _ prompt: String, _ question: Question, for asker: any Asker
    ) throws(Refusal) -> HeldSecret {
        let answer = try withPrompter(for: asker) { prompter throws(Refusal) in
            let watch = Watch(
                until: Date(timeIntervalSinceNow: Self.deadline), asker, prompter, nil)
            watch.start()
            defer { watch.stop() }
            try prompter.show(.title(question.text(for: asker.caller)))
            try prompter.show(.askHidden(prompt))
            let answer = try prompter.reply()
            try? prompter.show(.finished(succeeded: answer != nil))
            return answer
        }
        guard let answer else { throw .cancelled }
        return answer
    }

    /// One question at a time, and not too many of them. A prompter that something went wrong with
    /// is not asked again.
    func withPrompter<R>(
        for asker: any Asker, _ body: (Prompter) throws(Refusal) -> R
    ) throws(Refusal) -> R {
        try budget.take(asker.caller.user)
        let prompter = try find(for: asker)
        guard prompter.tryTaking() else { throw .tooManyRequests }
        defer { prompter.giveBack() }
        do { return try body(prompter) } catch {
            prompter.hangUp()
            throw error
        }
    }

    /// The session's own prompter, else one that the asking program starts on its terminal.
    private func find(for asker: any Asker) throws(Refusal) -> Prompter {
        if let registered = prompters.prompter(for: asker.caller) { return registered }
        guard asker.offersTerminal, let terminal = asker.caller.terminal else {
            throw .interactionNotAllowed
        }
        let challenge = try prompters.expect(user: asker.caller.user, terminal: terminal)
        guard asker.startPrompter(challenge: challenge),
            let prompter = prompters.arrival(
                of: challenge, within: Self.arrivalDeadline, unless: asker.hasGone)
        else { throw .interactionNotAllowed }
        return prompter
    }

    func converse(
        _ service: String, _ account: String, _ question: Question, _ prompter: Prompter,
        _ asker: any Asker
    ) throws(Refusal) -> ConversationOutcome {
        let ours: ConversationChannel
        let child: ChildProcess
        do {
            let (here, there) = try ConversationChannel.pair()
            ours = here
            child = try ChildProcess(
                executable: program, arguments: [service, account], environment: [],
                passing: [(source: there.descriptor.number, target: 3)], newSession: true)
        } catch { throw .internalError }
        defer { if child.wait(deadlineSeconds: 0.2) == nil { child.kill() } }
        let watch = Watch(until: Date(timeIntervalSinceNow: Self.deadline), asker, prompter, child)
        watch.start()
        defer { watch.stop() }
        try prompter.show(.title(question.text(for: asker.caller)))
        while true {
            let message: ConversationMessage
            do { message = try ours.receive(deadlineSeconds: Self.deadline + 5) } catch {
                return .failed
            }
            switch message {
            case .askHidden(let text): try answer(.askHidden(text), prompter, ours)
            case .askVisible(let text): try answer(.askVisible(text), prompter, ours)
            case .info(let text): try prompter.show(.information(text))
            case .error(let text): try prompter.show(.error(text))
            case .finished(let outcome): return outcome
            case .title, .answer, .cancel: throw .internalError
            }
        }
    }

    private func answer(
        _ ask: DaemonWords.Prompt, _ prompter: Prompter, _ channel: ConversationChannel
    ) throws(Refusal) {
        try prompter.show(ask)
        let reply = try prompter.reply()
        do { try channel.send(reply.map { .answer($0) } ?? .cancel) } catch {
            throw .authenticationFailed
        }
    }
}

/// Ends a conversation when its time is up or the asking program has gone away.
final class Watch: @unchecked Sendable {
    private let deadline: Date
    private let asker: any Asker
    private let prompter: Prompter
    private let child: ChildProcess?
    private let condition = NSCondition()
    private var isOver = false

    init(until deadline: Date, _ asker: any Asker, _ prompter: Prompter, _ child: ChildProcess?) {
        self.deadline = deadline
        self.asker = asker
        self.prompter = prompter
        self.child = child
    }

    func start() {
        let thread = Thread { [self] in
            condition.lock()
            defer { condition.unlock() }
            while !isOver {
                if Date() >= deadline || asker.hasGone() {
                    child?.kill()
                    prompter.hangUp()
                    return
                }
                _ = condition.wait(until: Date(timeIntervalSinceNow: 0.2))
            }
        }
        thread.start()
    }

    func stop() {
        condition.lock()
        isOver = true
        condition.broadcast()
        condition.unlock()
    }
}
