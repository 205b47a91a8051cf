// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainModel
internal import KeychainLocalSocket

/// One request and everything said until its answer is complete.
struct Conversation {
    enum Failure: Error {
        /// With the rules of the policy that it comes from.
        case refused(Refusal, because: [String])
        /// The daemon went away, or said something that means nothing.
        case broken
    }

    /// How long the daemon may be silent. Longer than any question to the user may take.
    private static let answerDeadline = 180.0
    private static let mostQuestions = 20

    private let connection: ClientConnection
    private let socket: String

    init(_ connection: ClientConnection, socket: String) {
        self.connection = connection
        self.socket = socket
    }

    func answer(
        _ request: Request, in context: AuthenticationContext?
    ) throws(Failure) -> Answer {
        let offersTerminal = PrompterLauncher.hasControllingTerminal
        try say(.request(request, context: context, offersTerminal: offersTerminal))
        var answer = Answer()
        var prompter: PrompterLauncher?
        var questions = 0
        defer { prompter?.end() }
        while true {
            switch try hear() {
            case .refusal(let refusal, let rules): throw .refused(refusal, because: rules)
            case .answer(let part, let continues):
                answer.items += part.items
                answer.count += part.count
                if let status = part.status { answer.status = status }
                if let known = part.capabilities { answer.capabilities = known }
                if let report = part.report { answer.report = report }
                answer.protectors += part.protectors
                if let kept = part.safekept { answer.safekept = kept }
                if let preferences = part.preferences { answer.preferences = preferences }
                if !continues { return answer }
            case .needsPrompter(let challenge, let program):
                // One for each question, where the answer to the first was not enough; the program
                // that the daemon names is root's.
                questions += 1
                guard offersTerminal, questions <= Self.mostQuestions else { throw .broken }
                prompter?.end()
                prompter = PrompterLauncher(
                    program: program, challenge: challenge, socket: socket)
                guard prompter != nil else { throw .refused(.interactionNotAllowed, because: []) }
            case .prompt: throw .broken
            }
        }
    }

    private func say(_ words: ClientWords) throws(Failure) {
        let (message, secrets) = words.encoded()
        do {
            try connection.send(Frame(message: message, secrets: secrets))
        } catch { throw error == .tooLarge ? .refused(.dataTooLarge, because: []) : .broken }
    }

    private func hear() throws(Failure) -> DaemonWords {
        do {
            let frame = try connection.receive(.answer, deadlineSeconds: Self.answerDeadline)
            return try DaemonWords(frame.message, secrets: frame.secrets)
        } catch { throw .broken }
    }
}
