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
    /// As many as PAM's modules give.
    static let mostTries = 3
    private static let arrivalDeadline: TimeInterval = 10

    let program: String
    private let prompters: PrompterRegistry
    private let budget = QuestionBudget()
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
        // On a terminal any program of the user could type a yes.
        if prompters.prompter(for: caller)?.showsWindows == true {
            methods.insert(.factor(.confirm))
        }
        return methods
    }

    func hasBiometryService() -> Bool { services.methods().contains(.factor(.biometry)) }

    func enrolledBiometry(of caller: Caller) -> [UInt8] {
        accounts.name(of: caller.user).map(EnrolledBiometry.state(of:)) ?? []
    }

    func prove(
        _ method: PolicyMethod, _ question: Question, for asker: any Asker
    ) throws(Refusal) {
        if method == .factor(.confirm) { return try confirm(question, for: asker) }
        guard let account = accounts.name(of: asker.caller.user), let service = method.service
        else { throw .authenticationFailed }
        let transaction = PAMQuestion(
            program: program, service: service, account: account, deadline: Self.deadline)
        let outcome = try withPrompter(for: asker, question) { prompter, settled throws(Refusal) in
            var hasAnswered = false
            // Broken off after something was typed: that was not right, or is not known to be.
            defer { if hasAnswered, settled == .undecided { settled = .wrong } }
            let outcome = try transaction.ask(
                question.text(for: asker.caller), on: prompter, unless: { asker.hasGone() },
                &hasAnswered)
            try? prompter.show(.finished(succeeded: outcome == .success))
            switch outcome {
            case .success: settled = .proven
            case .cancelled where !hasAnswered: settled = .declined
            case .accountRefused: settled = .wrong
            // Where nobody has typed anything: a wet finger is no guess, and a password may follow.
            case .failed, .unavailable, .cancelled, .tooManyTries: break
            }
            return outcome
        }
        switch outcome {
        case .success: return
        case .cancelled: throw .cancelled
        case .failed, .unavailable, .accountRefused, .tooManyTries: throw .authenticationFailed
        }
    }

    /// A yes in a window: it shows that somebody at the screen agrees, and not who.
    private func confirm(_ question: Question, for asker: any Asker) throws(Refusal) {
        let agrees = try withPrompter(for: asker, question) { prompter, settled throws(Refusal) in
            guard prompter.showsWindows else { throw .interactionNotAllowed }
            let answer = try self.ask(.confirm("Allow it?"), question, prompter, asker)
            guard answer.map({ $0.bytes.count == 0 }) ?? true else { throw .interactionNotAllowed }
            settled = answer != nil ? .agreed : .declined
            return answer != nil
        }
        guard agrees else { throw .cancelled }
    }

    func ask(
        _ prompt: String, _ question: Question, for asker: any Asker
    ) throws(Refusal) -> HeldSecret {
        let answer = try withPrompter(for: asker, question) { prompter, settled throws(Refusal) in
            let answer = try self.ask(.askHidden(prompt), question, prompter, asker)
            if answer == nil { settled = .declined }
            return answer
        }
        guard let answer else { throw .cancelled }
        return answer
    }

    /// Asks something that is no proof, and that no PAM module asks.
    private func ask(
        _ words: DaemonWords.Prompt, _ question: Question, _ prompter: Prompter,
        _ asker: any Asker
    ) throws(Refusal) -> HeldSecret? {
        let answer = try reply(to: words, question, prompter, asker)
        try? prompter.show(.finished(succeeded: answer != nil))
        return answer
    }

    /// The answer, while more may be asked; nil where the user gives none.
    func reply(
        to words: DaemonWords.Prompt, _ question: Question, _ prompter: Prompter,
        _ asker: any Asker
    ) throws(Refusal) -> HeldSecret? {
        try conversing(about: question, prompter, asker) { () throws(Refusal) in
            try prompter.ask(words)
        }
    }

    /// Until it is over, nobody has answered in time, or nobody waits for it any more.
    func conversing<R>(
        about question: Question, _ prompter: Prompter, _ asker: any Asker,
        _ body: () throws(Refusal) -> R
    ) throws(Refusal) -> R {
        let watch = QuestionWatch(
            until: Date(timeIntervalSinceNow: Self.deadline), unless: { asker.hasGone() },
            end: { prompter.hangUp() })
        watch.start()
        defer { watch.stop() }
        try prompter.show(.title(question.text(for: asker.caller)))
        return try body()
    }

    /// One question at a time, and not too many of them. A prompter that something went wrong with
    /// is not asked again.
    func withPrompter<R>(
        for asker: any Asker, _ question: Question,
        _ body: (Prompter, inout QuestionBudget.Outcome) throws(Refusal) -> R
    ) throws(Refusal) -> R {
        let matter = QuestionBudget.Matter(
            user: asker.caller.user, program: asker.caller.identity.identifier ?? "",
            items: question.items, keychain: question.keychain)
        try budget.begin(matter)
        var settled = QuestionBudget.Outcome.undecided
        defer { budget.end(matter, settled) }
        let prompter = try find(for: asker)
        try prompter.take { asker.hasGone() }
        defer { prompter.giveBack() }
        do { return try body(prompter, &settled) } catch {
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
}
