// SPDX-License-Identifier: Apache-2.0
import KeychainMessages
import KeychainModel
import Synchronization

@testable import SecurityTool

/// A keychain that keeps what it is asked, and refuses what its test has no answer for.
final class AskedKeychain: KeychainEndpoint {
    private let refusal: RequestError
    private let answer: @Sendable (any Verb) -> (any VerbAnswer)?
    private let asked = Mutex<[any Verb]>([])

    init(
        refusing refusal: RequestError = .state(.notFound),
        answer: @escaping @Sendable (any Verb) -> (any VerbAnswer)? = { _ in nil }
    ) {
        self.refusal = refusal
        self.answer = answer
    }

    var verbs: [any Verb] { asked.withLock { $0 } }

    var queries: [ItemQuery] {
        verbs.compactMap {
            ($0 as? CopyMatching)?.query ?? ($0 as? Update)?.query ?? ($0 as? Delete)?.query
        }
    }

    func send<V: Verb>(
        _ verb: V, in context: AuthenticationContext?, cancellation: Cancellation?
    ) throws(RequestError) -> V.Answer {
        asked.withLock { $0.append(verb) }
        guard let answer = answer(verb) as? V.Answer else { throw refusal }
        return answer
    }

    /// Runs a command without its diagnostics, and returns its exit status.
    func run(_ words: [String]) -> Int32 { SecurityProgram(session).run(["-q"] + words) }

    var session: Session { Session { .success(self) } }
}
