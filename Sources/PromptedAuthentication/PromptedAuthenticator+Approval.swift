// SPDX-License-Identifier: Apache-2.0
internal import AccountDatabase
internal import CallerIdentity
internal import KeychainLocalSocket
internal import KeychainMessages
package import KeychainModel
internal import KeychainPolicyModel
internal import KeychainSecrets
package import KeychainUserPresence

extension PromptedAuthenticator {
    /// Asks for the approval of another person, on the asker's own prompter: the person types a
    /// name, and then answers PAM. A wrong answer counts as the asker's guess.
    package func approval(
        by names: [String], _ question: Question, for client: any Client
    ) throws(RequestError) -> String {
        guard let asker = accounts.name(of: client.caller.user), !names.isEmpty else {
            throw .refused(.authenticationFailed)
        }
        let list = names.joined(separator: ", ")
        let asked = question.adding(
            "It takes the approval of another person than \(asker): \(list).")
        return try withPrompter(for: client, asked) {
            prompter, settled throws(RequestError) in
            let typed = try approver(among: names, asked, prompter, client)
            guard let name = typed else {
                settled = .declined
                throw .refused(.cancelled)
            }
            // A policy may name the asker among the approvers: the asker's own approval counts for
            // nothing.
            guard names.contains(name), name != asker else {
                settled = .wrong
                try? prompter.show(.error("\(name) can't approve this."))
                try? prompter.show(.finished(succeeded: false))
                throw .refused(.authenticationFailed)
            }
            var hasAnswered = false
            defer { if hasAnswered, settled == .undecided { settled = .wrong } }
            let transaction = transaction(
                PolicyMethod.approvalService, of: name, asker: asker, for: client)
            let outcome = try transaction.ask(
                asked.title(
                    for: client, adding: "\nTo approve it, \(name) proves who that is."),
                on: prompter, unless: { client.hasGone() }, &hasAnswered)
            try? prompter.show(.finished(succeeded: outcome == .success))
            switch outcome {
            case .success:
                settled = .proven
                return name
            case .cancelled where !hasAnswered:
                settled = .declined
                throw .refused(.cancelled)
            case .cancelled: throw .refused(.cancelled)
            case .accountRefused, .failed, .unavailable, .tooManyTries:
                throw .refused(.authenticationFailed)
            }
        }
    }

    /// The only possible approver, or the name that is typed; nil where the question is cancelled.
    private func approver(
        among names: [String], _ question: Question, _ prompter: Prompter, _ client: any Client
    ) throws(RequestError) -> String? {
        if names.count == 1 { return names.first }
        let words = "Who approves (\(names.joined(separator: ", "))): "
        guard let typed = try reply(to: .askVisible(words), question, prompter, client) else {
            return nil
        }
        // A name is no secret.
        return String(decoding: typed.bytes.releasedFromLockedMemory(), as: UTF8.self)
    }
}
