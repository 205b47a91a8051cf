// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainLocalSocket
internal import KeychainSecrets

/// Carries the daemon's messages to the screen, and the typed answers back.
struct DaemonConversation {
    enum Step {
        /// The daemon registered this prompter, or attached it to its question.
        case accepted
        case refused(String)
        case underWay
        case finished(succeeded: Bool)
    }

    enum Failure: Error {
        case lineLost
        case screenLost
    }

    /// How long a question is waited for to show messages of PAM with; then they are shown alone.
    private static let longestPause = Duration.seconds(0.3)

    private let line: DaemonLine
    private let screen: any QuestionScreen

    init(_ line: DaemonLine, _ screen: any QuestionScreen) {
        self.line = line
        self.screen = screen
    }

    /// Waits for the next message and does what it says.
    func step() throws(Failure) -> Step {
        let words: ServerMessage
        do {
            words = try screen.hasNews ? wordsOrPause() : line.hear()
        } catch { throw .lineLost }
        switch words {
        case .registered: return .accepted
        case .refusal(let refusal, _): return .refused(Self.meaning(of: refusal))
        case .prompt(let prompt): return try show(prompt)
        case .needsPrompter, .answer: throw .lineLost
        }
    }

    private func wordsOrPause() throws(SocketError) -> ServerMessage {
        do throws(SocketError) { return try line.hear(within: Self.longestPause) } catch {
            guard error == .timedOut else { throw error }
        }
        screen.showNews()
        return try line.hear()
    }

    private func show(_ prompt: ServerMessage.Prompt) throws(Failure) -> Step {
        switch prompt {
        case .title(let text, let window): screen.title(text, over: window)
        case .information(let text): screen.inform(text)
        case .error(let text): screen.complain(text)
        case .askHidden(let text): try answer(text, echo: false)
        case .askVisible(let text): try answer(text, echo: true)
        case .askNew(let text): try answerNew(text)
        case .choose(let choices): try choose(choices)
        case .confirm(let text): try confirm(text)
        case .finished(let succeeded):
            screen.finish(succeeded: succeeded)
            return .finished(succeeded: succeeded)
        }
        return .underWay
    }

    private func choose(_ choices: [TrustChoice]) throws(Failure) {
        let choice: TrustChoice?
        do throws(ScreenFailure) {
            choice = try screen.choose(choices) { line.isClosed }
        } catch { throw lost(error) }
        let word = choice.map { HeldSecret(SecretBytes(copying: Array($0.rawValue.utf8))) }
        do { try line.say(.promptReply(word)) } catch { throw .lineLost }
    }

    private func confirm(_ question: String) throws(Failure) {
        let agrees: Bool
        do throws(ScreenFailure) {
            agrees = try screen.confirm(question) { line.isClosed }
        } catch { throw lost(error) }
        let yes = HeldSecret(SecretBytes(copying: []))
        do { try line.say(.promptReply(agrees ? yes : nil)) } catch { throw .lineLost }
    }

    private func answerNew(_ question: String) throws(Failure) {
        let answer: HeldSecret?
        do throws(ScreenFailure) {
            answer = try screen.askNew(question) { line.isClosed }
        } catch { throw lost(error) }
        do { try line.say(.promptReply(answer)) } catch { throw .lineLost }
    }

    private func answer(_ question: String, echo: Bool) throws(Failure) {
        let answer: HeldSecret?
        do throws(ScreenFailure) {
            answer = try screen.ask(question, echo: echo) { line.isClosed }
        } catch { throw lost(error) }
        do { try line.say(.promptReply(answer)) } catch { throw .lineLost }
    }

    /// The daemon may have said why it waits no longer.
    private func lost(_ error: ScreenFailure) -> Failure {
        guard error == .abandoned else { return .screenLost }
        while case .prompt(.error(let text))? = try? line.hear(within: Self.longestPause) {
            screen.complain(text)
        }
        return .lineLost
    }
}
