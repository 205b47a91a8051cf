// SPDX-License-Identifier: Apache-2.0
internal import AccessControl
internal import Foundation
internal import KeychainMessages
internal import KeychainModel
internal import LocalSocket
internal import Secrets

extension PromptedAuthenticator {
    private enum Outcome {
        case allowed(TrustAnswer)
        case refused
        /// He wanted to, but could not prove that it is he.
        case notProven
    }

    /// One question on one prompter: what may be, and who says so. Whoever types "yes" into a
    /// terminal is not yet its user, so that only windows do without a proof, and never for good.
    func letIn(
        _ question: Question, _ offer: TrustOffer, for asker: any Asker
    ) throws(Refusal) -> TrustAnswer {
        guard let account = accounts.name(of: asker.caller.user) else {
            throw .interactionNotAllowed
        }
        let outcome: Outcome
        var isShown = false
        do throws(Refusal) {
            outcome = try withPrompter(for: asker) { prompter throws(Refusal) in
                isShown = true
                let outcome = try letIn(question, offer, account, prompter, asker)
                var isAllowed = false
                if case .allowed = outcome { isAllowed = true }
                try? prompter.show(.finished(succeeded: isAllowed))
                return outcome
            }
        } catch {
            // Left unanswered is a no as well.
            throw isShown ? .cancelled : .interactionNotAllowed
        }
        switch outcome {
        case .allowed(let answer): return answer
        case .refused, .notProven:
            budget.pause(asker.caller.user)
            if case .notProven = outcome { throw .authenticationFailed }
            throw .cancelled
        }
    }

    private func letIn(
        _ question: Question, _ offer: TrustOffer, _ account: String, _ prompter: Prompter,
        _ asker: any Asker
    ) throws(Refusal) -> Outcome {
        guard let choice = try choice(question, offer, prompter, asker), choice != .deny,
            let proof = offer.proofs[choice]
        else { return .refused }
        guard choice == .always || !prompter.showsWindows else {
            return .allowed(TrustAnswer(choice: choice, proven: []))
        }
        for method in proof {
            guard let service = method.service else { return .notProven }
            switch try converse(service, account, question, prompter, asker) {
            case .success: continue
            case .cancelled: return .refused
            case .failed, .unavailable, .accountRefused, .tooManyTries: return .notProven
            }
        }
        return .allowed(TrustAnswer(choice: choice, proven: proof))
    }

    private func choice(
        _ question: Question, _ offer: TrustOffer, _ prompter: Prompter, _ asker: any Asker
    ) throws(Refusal) -> TrustChoice? {
        let watch = Watch(until: Date(timeIntervalSinceNow: Self.deadline), asker, prompter, nil)
        watch.start()
        defer { watch.stop() }
        try prompter.show(.title(question.text(for: asker.caller)))
        try prompter.show(.choose(offer.choices))
        guard let reply = try prompter.reply() else { return nil }
        let word = String(decoding: reply.bytes.releasedFromLockedMemory(), as: UTF8.self)
        return TrustChoice(rawValue: word)
    }
}
