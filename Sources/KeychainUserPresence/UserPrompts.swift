// SPDX-License-Identifier: Apache-2.0
package import KeychainAccessControl
internal import KeychainMessages
package import KeychainModel
internal import KeychainPolicyModel
internal import KeychainRequestAudit
package import KeychainSecrets

/// All questions that a request puts to its user: no other code asks the authenticator anything.
///
/// After each question the client is looked at again, and `count` has changed: facts that were taken
/// at another count are stale.
package final class UserPrompts {
    package let client: any Client
    let authentication: Authentication
    package private(set) var count = 0
    private var logins: LiveLogins?

    package init(_ client: any Client, _ authentication: Authentication) {
        logins = client.logins
        self.client = client
        self.authentication = authentication
    }

    /// The logins as they were seen when the request came, for the first keys that it takes. Later
    /// ones may be taken after any wait.
    package func takeLogins() -> LiveLogins? { logins.take() }

    package func mayAsk(_ ui: ItemQuery.AuthenticationUI) -> Bool {
        authentication.mayAsk(ui, for: client)
    }

    /// Whether a question about these items would be put now. Searches, which ask nothing, want to know.
    package func wouldAsk(about items: [ItemReference]) -> Bool {
        authentication.wouldAsk(Question(.items(items)), for: client)
    }

    /// The client still is the program that it was when the request came. To be asked after each
    /// question, and before anything is written or leaves.
    package func checkClient() throws(RequestError) {
        guard client.isUnchanged() else { throw .refused(.notEntitled) }
    }

    /// The evidence with what the user proved.
    package func prove(
        _ requirement: Requirement, _ question: Question, given evidence: Evidence
    ) throws(RequestError) -> Evidence {
        let methods = try ask { () throws(RequestError) in
            try authentication.satisfy(requirement, question, given: evidence, for: client)
        }
        authentication.keep(methods, for: client, about: question.items)
        let proven = methods.reduce(evidence) { $0.adding($1) }
        client.notes.note(proven: proven)
        return proven
    }

    package func applicationPassword(
        _ question: Question, isNew: Bool
    ) throws(RequestError) -> HeldSecret {
        try ask { () throws(RequestError) in
            try authentication.applicationPassword(question, isNew: isNew, for: client)
        }
    }

    package func newPassword(_ question: Question) throws(RequestError) -> HeldSecret {
        try ask { () throws(RequestError) in
            try authentication.newPassword(question, for: client)
        }
    }

    /// Has the user open a keychain with what they type.
    package func unlock(
        _ question: UnlockQuestion, unless isOpen: () -> Bool,
        with opens: (HeldSecret) throws(RequestError) -> Bool
    ) throws(RequestError) {
        try ask { () throws(RequestError) in
            try authentication.open(
                question.prompt, question.question, for: client, unless: isOpen, with: opens)
        }
    }

    /// What the user says to a program that asks for another one's item; nil where they were not
    /// asked. `.cancelled` is a no.
    package func consent(
        _ candidate: () -> (question: Question, options: ConsentOptions)?
    ) throws(RequestError) -> ConsentResult? {
        try ask { () throws(RequestError) -> ConsentResult? in
            do throws(RequestError) {
                return try authentication.consent(for: client, candidate)
            } catch {
                guard error == .refused(.cancelled) || error == .refused(.authenticationFailed)
                else { return nil }
                client.notes.note(trust: "denied")
                throw error
            }
        }
    }

    private func ask<R>(_ question: () throws(RequestError) -> R) throws(RequestError) -> R {
        defer { count += 1 }
        let answer = try question()
        try checkClient()
        return answer
    }

    // MARK: Whole keychains

    /// Judges, asks the user for what is missing, and judges again. `judge` takes its facts anew each
    /// time, and throws what it refuses: what comes of it rests on nothing from before the question.
    package func authorize<Granted: ~Copyable>(
        given evidence: Evidence = Evidence(),
        _ judge: (Evidence) throws(RequestError) -> Ruling<Granted>
    ) throws(RequestError) -> Granted {
        switch try judge(evidence) {
        case .allow(let granted):
            try checkClient()
            return granted
        case .allowAfter(let requirement, let question):
            guard mayAsk(.allow) else { throw .refused(.interactionNotAllowed) }
            let proven = try prove(requirement, question, given: evidence)
            guard case .allow(let granted) = try judge(proven) else {
                throw .refused(.authenticationFailed)
            }
            return granted
        }
    }

    /// Presence, proven for this very request: what was proven before was for something else.
    package func authorizePresence(
        _ question: @autoclosure () -> Question,
        unless isNeedless: () throws(RequestError) -> Bool = { false }
    ) throws(RequestError) {
        try authorize { evidence throws(RequestError) -> Ruling<Void> in
            guard evidence.isEmpty, try !isNeedless() else { return .allow(()) }
            return .allowAfter(Requirement(.factor(.presence)), question())
        }
    }
}

/// What a verb on a keychain as a whole may do.
package enum Ruling<Granted: ~Copyable>: ~Copyable {
    case allow(Granted)
    /// Once this has been proven; then it is judged again.
    case allowAfter(Requirement, Question)
}

/// What is asked where a request finds a keychain locked.
package struct UnlockQuestion {
    let prompt: String
    let question: Question

    package init(prompt: String, question: Question) {
        self.prompt = prompt
        self.question = question
    }
}
