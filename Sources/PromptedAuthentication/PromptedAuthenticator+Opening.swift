// SPDX-License-Identifier: Apache-2.0
package import KeychainUserPresence
internal import KeychainMessages
package import KeychainModel
package import KeychainSecrets

extension PromptedAuthenticator {
    private enum Outcome {
        case opened
        case ended(RequestError)
    }

    /// Asks for what opens a keychain. The daemon itself checks the answer, as no PAM service
    /// could.
    package func open(
        _ prompt: String, _ question: Question, for client: any Client, unless isOpen: () -> Bool,
        with opens: (HeldSecret) throws(RequestError) -> Bool
    ) throws(RequestError) {
        let outcome = try withPrompter(for: client, question) {
            prompter, settled throws(RequestError) in
            // The answer to one client also serves the clients that waited behind it.
            let outcome =
                isOpen()
                ? Outcome.opened
                : try conversing(about: question, prompter, client) { () throws(RequestError) in
                    try open(prompt, prompter, &settled, with: opens)
                }
            var succeeded = false
            if case .opened = outcome { succeeded = true }
            try? prompter.show(.finished(succeeded: succeeded))
            return outcome
        }
        if case .ended(let error) = outcome { throw error }
    }

    private func open(
        _ prompt: String, _ prompter: Prompter, _ settled: inout PromptRateLimiter.Outcome,
        with opens: (HeldSecret) throws(RequestError) -> Bool
    ) throws(RequestError) -> Outcome {
        for _ in 0..<Self.mostTries {
            guard let typed = try prompter.ask(.askHidden(prompt)) else {
                if settled == .undecided { settled = .declined }
                return .ended(.refused(.cancelled))
            }
            // Something was typed, which counts as wrong unless it opens the keychain.
            settled = .wrong
            do throws(RequestError) {
                if try opens(typed) {
                    // The user knows the password, which does not say which user it is.
                    settled = .agreed
                    return .opened
                }
            } catch { return .ended(error) }
            try prompter.show(.error("That does not open the keychain."))
        }
        return .ended(.refused(.authenticationFailed))
    }
}
