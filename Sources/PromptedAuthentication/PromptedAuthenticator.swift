// SPDX-License-Identifier: Apache-2.0
package import AccountDatabase
internal import CallerIdentity
internal import KeychainAccessControl
internal import KeychainLinuxSystem
internal import KeychainLocalSocket
package import KeychainMessages
package import KeychainModel
package import KeychainPolicyModel
package import KeychainSecrets
package import KeychainUserPresence
package import ProgramHandoff

/// Runs one PAM transaction in `keychain-auth` and carries its conversation to a prompter. The
/// asking program sees none of it.
package final class PromptedAuthenticator: Authenticator {
    /// Counted from the moment the question is shown.
    static let deadline: Duration = .seconds(60)
    /// The number of tries that PAM modules usually give.
    static let mostTries = 3
    private static let arrivalDeadline: Duration = .seconds(10)
    /// Shorter than a client's own timeout.
    private static let longestWait: Duration = .seconds(100)
    private static let glanceMilliseconds: UInt32 = 200

    package let starter: any ProgramStarter
    package let prompters: PrompterRegistry
    private let budget = PromptRateLimiter()
    private let open = OpenQuestions()
    private let services = PAMServices()
    package let accounts: AccountNames
    private let biometry: @Sendable (_ user: UInt32) -> [UInt8]

    /// `biometry` gives a digest of what a user has enrolled; empty where that is nothing, or can't
    /// be told.
    package init(
        starter: any ProgramStarter, prompters: PrompterRegistry, accounts: AccountNames,
        biometry: @escaping @Sendable (_ user: UInt32) -> [UInt8]
    ) {
        self.starter = starter
        self.prompters = prompters
        self.accounts = accounts
        self.biometry = biometry
    }

    /// Returns when the questions that are shown now have been answered. Those that are shown later
    /// are not waited for, so that no program can make this take longer than one question does.
    package func waitForOpenQuestions() { open.waitForThoseOfNow(atMost: Self.deadline) }

    package func canAsk(for client: any Client) -> Bool {
        prompters.prompter(for: client.caller) != nil
            || (client.offersTerminal && client.caller.terminal != nil)
    }

    /// Returns false for a while after a few denials or too many questions.
    package func wouldAsk(_ question: Question, for client: any Client) -> Bool {
        guard let place = prompters.prompter(for: client.caller)?.place ?? terminal(of: client)
        else { return false }
        return (try? budget.check(matter(client, question, at: place))) != nil
    }

    package func hasPrompter(for caller: Caller) -> Bool { prompters.prompter(for: caller) != nil }

    package func provable(for caller: Caller) -> Set<PolicyMethod> {
        var methods = services.methods()
        if enrolledBiometry(of: caller).isEmpty { methods.remove(.factor(.biometry)) }
        if methods.remove(.pam(PolicyText(PolicyMethod.approvalService))) != nil,
            let asker = accounts.name(of: caller.user)
        {
            methods.insert(.approvals(besides: asker))
        }
        // On a terminal any program of the user could type a yes.
        if prompters.prompter(for: caller)?.showsWindows == true {
            methods.insert(.factor(.confirm))
        }
        return methods
    }

    package func hasBiometryService() -> Bool { services.methods().contains(.factor(.biometry)) }

    package func enrolledBiometry(of caller: Caller) -> [UInt8] {
        biometry(caller.user)
    }

    package func prove(
        _ method: PolicyMethod, _ question: Question, for client: any Client
    ) throws(RequestError) {
        if method == .factor(.confirm) { return try confirm(question, for: client) }
        guard let account = accounts.name(of: client.caller.user), let service = method.service
        else { throw .refused(.authenticationFailed) }
        let transaction = transaction(service, of: account, for: client)
        let outcome = try withPrompter(for: client, question) {
            prompter, settled throws(RequestError) in
            var hasAnswered = false
            // A question that is cancelled after something was typed counts as a wrong answer.
            defer { if hasAnswered, settled == .undecided { settled = .wrong } }
            let outcome = try transaction.ask(
                question.title(for: client), on: prompter, unless: { client.hasGone() },
                &hasAnswered)
            try? prompter.show(.finished(succeeded: outcome == .success))
            switch outcome {
            case .success: settled = .proven
            case .cancelled where !hasAnswered: settled = .declined
            case .accountRefused: settled = .wrong
            // Where nothing was typed, the outcome stays undecided: a finger that the reader can't
            // read is no guess, and a password may follow.
            case .failed, .unavailable, .cancelled, .tooManyTries: break
            }
            return outcome
        }
        switch outcome {
        case .success: return
        case .cancelled: throw .refused(.cancelled)
        case .failed, .unavailable, .accountRefused, .tooManyTries:
            throw .refused(.authenticationFailed)
        }
    }

    /// - Parameter asker: the asking user's name, where the account is another person's.
    func transaction(
        _ service: String, of account: String, asker: String? = nil, for client: any Client
    ) -> PAMProcess {
        let request = AuthenticationRequest(
            service: service, account: account, asker: asker, user: client.caller.user)
        return PAMProcess(starter: starter, request: request, deadline: Self.deadline)
    }

    /// Asks for a yes in a window, which shows that a person at the screen agrees, but not which
    /// person.
    private func confirm(_ question: Question, for client: any Client) throws(RequestError) {
        let agrees = try withPrompter(for: client, question) {
            prompter, settled throws(RequestError) in
            guard prompter.showsWindows else { throw .refused(.interactionNotAllowed) }
            let answer = try self.ask(.confirm("Allow it?"), question, prompter, client)
            guard answer.map({ $0.bytes.count == 0 }) ?? true, prompter.showsWindows else {
                throw .refused(.interactionNotAllowed)
            }
            settled = answer != nil ? .agreed : .declined
            return answer != nil
        }
        guard agrees else { throw .refused(.cancelled) }
    }

    package func ask(
        _ prompt: String, _ question: Question, for client: any Client
    ) throws(RequestError) -> HeldSecret {
        let answer = try withPrompter(for: client, question) {
            prompter, settled throws(RequestError) in
            let answer = try self.ask(.askHidden(prompt), question, prompter, client)
            if answer == nil { settled = .declined }
            return answer
        }
        guard let answer else { throw .refused(.cancelled) }
        return answer
    }

    package func newPassword(
        _ question: Question, for client: any Client
    ) throws(RequestError) -> HeldSecret {
        let answer = try withPrompter(for: client, question) {
            prompter, settled throws(RequestError) in
            let answer = try self.ask(.askNew("New password: "), question, prompter, client)
            settled = answer == nil ? .declined : .agreed
            return answer
        }
        guard let answer, answer.bytes.count > 0 else { throw .refused(.cancelled) }
        return answer
    }

    /// Asks a question that gives no proof and that no PAM module asks.
    private func ask(
        _ words: ServerMessage.Prompt, _ question: Question, _ prompter: Prompter,
        _ client: any Client
    ) throws(RequestError) -> HeldSecret? {
        let answer = try reply(to: words, question, prompter, client)
        try? prompter.show(.finished(succeeded: answer != nil))
        return answer
    }

    /// Returns the answer, after which more may be asked; nil where the user cancels.
    package func reply(
        to words: ServerMessage.Prompt, _ question: Question, _ prompter: Prompter,
        _ client: any Client
    ) throws(RequestError) -> HeldSecret? {
        try conversing(about: question, prompter, client) { () throws(RequestError) in
            try prompter.ask(words)
        }
    }

    /// Converses until `body` returns, the deadline passes, or the client no longer waits.
    func conversing<R>(
        about question: Question, _ prompter: Prompter, _ client: any Client,
        _ body: () throws(RequestError) -> R
    ) throws(RequestError) -> R {
        let watch = PromptWatchdog(
            until: .now + Self.deadline, unless: { client.hasGone() || prompter.isOverheard() },
            end: { prompter.hangUp() })
        watch.start()
        defer { watch.stop() }
        try prompter.show(question.title(for: client))
        return try body()
    }

    /// Shows one question at a time, within the limits. A prompter that failed is not asked again.
    func withPrompter<R>(
        for client: any Client, _ question: Question,
        _ body: (Prompter, inout PromptRateLimiter.Outcome) throws(RequestError) -> R
    ) throws(RequestError) -> R {
        try check(client, question)
        return try show(question, on: try find(for: client), for: client, body)
    }

    /// Waits for its turn behind questions shown elsewhere; refuses where there are too many.
    package func check(_ client: any Client, _ question: Question?) throws(RequestError) {
        let registered = prompters.prompter(for: client.caller)
        guard let place = registered.map(\.place) ?? terminal(of: client) else {
            throw .refused(.interactionNotAllowed)
        }
        let matter = matter(client, question, at: place)
        let deadline = ContinuousClock.now + Self.longestWait
        while true {
            try budget.check(matter)
            // A registered prompter has a queue of its own.
            guard budget.isWaiting(matter, besides: registered?.place) else { return }
            guard !client.hasGone() else { throw .refused(.interactionNotAllowed) }
            guard ContinuousClock.now < deadline else { throw .refused(.tooManyRequests) }
            Wait.pause(milliseconds: Self.glanceMilliseconds)
        }
    }

    /// The question counts from the moment at which the prompter shows no other. `body` is given the
    /// prompter that shows it.
    func show<R>(
        _ question: Question, on prompter: Prompter, for client: any Client,
        _ body: (Prompter, inout PromptRateLimiter.Outcome) throws(RequestError) -> R
    ) throws(RequestError) -> R {
        let prompter = try takeTurn(of: prompter, for: client)
        defer { prompter.giveBack() }
        guard let place = prompter.place else { throw .refused(.interactionNotAllowed) }
        let matter = matter(client, question, at: place)
        do { try prompter.refuseOtherReaders() } catch {
            try? prompter.show(.finished(succeeded: false))
            throw error
        }
        try budget.begin(matter)
        let number = open.begin()
        defer { open.end(number) }
        var settled = PromptRateLimiter.Outcome.undecided
        defer { budget.end(matter, settled) }
        do { return try body(prompter, &settled) } catch {
            prompter.hangUp()
            throw error
        }
    }

    /// Waits for the prompter's turn. Where the question before it ended with a hang-up, the turn is
    /// that of the prompter that registers next.
    private func takeTurn(
        of prompter: Prompter, for client: any Client
    ) throws(RequestError) -> Prompter {
        let deadline = ContinuousClock.now + Self.longestWait
        var prompter = prompter
        while true {
            do throws(RequestError) {
                try prompter.take { client.hasGone() }
                return prompter
            } catch {
                guard prompter.hungUpAt != nil, !client.hasGone(), ContinuousClock.now < deadline,
                    let next = prompters.prompter(for: client.caller), next !== prompter
                else { throw error }
                prompter = next
            }
        }
    }

    private func matter(
        _ client: any Client, _ question: Question?, at place: PrompterPlace
    ) -> PromptRateLimiter.Matter {
        PromptRateLimiter.Matter(
            user: client.caller.user, program: client.caller.identifier ?? "",
            strength: client.caller.strength, place: place, items: question?.items ?? [],
            keychain: question?.keychain, change: question?.change)
    }

    private func terminal(of client: any Client) -> PrompterPlace? {
        client.offersTerminal ? .terminal(of: client.caller) : nil
    }

    /// Returns the registered prompter, else one that the asking program starts on its terminal.
    func find(for client: any Client) throws(RequestError) -> Prompter {
        if let registered = prompters.prompter(for: client.caller) { return registered }
        guard let place = terminal(of: client) else { throw .refused(.interactionNotAllowed) }
        let challenge = try prompters.expect(at: place, for: client.caller.user)
        guard client.startPrompter(challenge: challenge),
            let prompter = prompters.arrival(
                of: challenge, within: Self.arrivalDeadline, unless: client.hasGone)
        else { throw .refused(.interactionNotAllowed) }
        return prompter
    }
}

extension Question {
    /// What the prompter shows first: the text, over the client's window, with more words below it.
    func title(for client: any Client, adding words: String = "") -> ServerMessage.Prompt {
        .title(text(for: client.caller) + words, over: client.window)
    }
}
