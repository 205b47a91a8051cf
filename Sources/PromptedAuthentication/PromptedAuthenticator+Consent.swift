// SPDX-License-Identifier: Apache-2.0
internal import AccountDatabase
internal import KeychainAccessControl
internal import CallerIdentity
internal import KeychainLocalSocket
internal import KeychainMessages
package import KeychainModel
internal import KeychainPolicyModel
internal import KeychainSecrets
package import KeychainUserPresence

extension PromptedAuthenticator {
    private enum Outcome {
        case allowed(ConsentResult)
        case refused
        /// The user chose to allow it, but the proof was not given.
        case notProven
    }

    /// Asks on one prompter what the program may do, and for the proof that the choice needs. A
    /// program can type a “yes” into a terminal, so that only a choice in a window needs no further
    /// proof, and what is to last needs one even there.
    ///
    /// `candidate` is called only when a prompter is there: a program that offers its terminal is
    /// told to start a prompter for a name that exists as well as for one that does not, and so
    /// learns nothing.
    package func consent(
        for client: any Client, _ candidate: () -> (question: Question, options: ConsentOptions)?
    ) throws(RequestError) -> ConsentResult? {
        do { try check(client, nil) } catch { return nil }
        guard let prompter = try? find(for: client) else { return nil }
        guard let (question, options) = candidate() else {
            if prompters.prompter(for: client.caller) !== prompter { prompter.hangUp() }
            return nil
        }
        return try consent(question, options, on: prompter, for: client)
    }

    private func consent(
        _ question: Question, _ options: ConsentOptions, on prompter: Prompter,
        for client: any Client
    ) throws(RequestError) -> ConsentResult {
        guard let account = accounts.name(of: client.caller.user) else {
            throw .refused(.interactionNotAllowed)
        }
        let outcome: Outcome
        var isShown = false
        do throws(RequestError) {
            outcome = try show(
                question, on: prompter, for: client
            ) { prompter, settled throws(RequestError) in
                isShown = true
                // An unanswered question counts as a denial.
                settled = .declined
                let outcome = try consent(question, options, account, prompter, &settled, client)
                try? prompter.show(.finished(succeeded: settled == .proven || settled == .agreed))
                return outcome
            }
        } catch {
            throw isShown ? .refused(.cancelled) : .refused(.interactionNotAllowed)
        }
        switch outcome {
        case .allowed(let answer): return answer
        case .refused: throw .refused(.cancelled)
        case .notProven: throw .refused(.authenticationFailed)
        }
    }

    private func consent(
        _ question: Question, _ options: ConsentOptions, _ account: String, _ prompter: Prompter,
        _ settled: inout PromptRateLimiter.Outcome, _ client: any Client
    ) throws(RequestError) -> Outcome {
        guard let choice = try choice(question, options, prompter, client), choice != .deny,
            let proof = options.proofs[choice]
        else { return .refused }
        // A yes in a window also counts as the confirmation that a policy asks for.
        let agreed: [PolicyMethod] = prompter.showsWindows ? [.factor(.confirm)] : []
        guard choice.lasts || agreed.isEmpty else {
            settled = .agreed
            return .allowed(ConsentResult(choice: choice, proven: agreed))
        }
        for method in proof where !agreed.contains(method) {
            guard let service = method.service else { return .notProven }
            let transaction = transaction(service, of: account, for: client)
            var hasAnswered = false
            defer { if hasAnswered, settled != .proven { settled = .wrong } }
            let outcome = try transaction.ask(
                question.title(for: client), on: prompter, unless: { client.hasGone() },
                &hasAnswered)
            switch outcome {
            case .success: settled = .proven
            case .cancelled: return .refused
            case .failed, .unavailable, .accountRefused, .tooManyTries: return .notProven
            }
        }
        return .allowed(ConsentResult(choice: choice, proven: proof + agreed))
    }

    private func choice(
        _ question: Question, _ options: ConsentOptions, _ prompter: Prompter, _ client: any Client
    ) throws(RequestError) -> TrustChoice? {
        let reply = try self.reply(to: .choose(options.choices), question, prompter, client)
        guard let reply else { return nil }
        let word = String(decoding: reply.bytes.releasedFromLockedMemory(), as: UTF8.self)
        return TrustChoice(rawValue: word)
    }
}
