// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import LocalSocket
internal import Terminal

/// Carries the daemon's words to the screen and what is typed back.
struct DaemonConversation {
    enum Step {
        /// The daemon took this prompter for what it asked to be.
        case accepted
        case refused(String)
        case underWay
        case finished(succeeded: Bool)
    }

    enum Failure: Error {
        case lineLost
        case terminalLost
    }

    private let line: DaemonLine
    private let screen: QuestionScreen

    init(_ line: DaemonLine, _ screen: QuestionScreen) {
        self.line = line
        self.screen = screen
    }

    /// Waits for the next words and does what they say.
    func step() throws(Failure) -> Step {
        let words: DaemonWords
        do { words = try line.hear() } catch { throw .lineLost }
        switch words {
        case .answer: return .accepted
        case .refusal(let refusal, _): return .refused(Self.meaning(of: refusal))
        case .prompt(let prompt): return try show(prompt)
        case .needsPrompter: throw .lineLost
        }
    }

    private func show(_ prompt: DaemonWords.Prompt) throws(Failure) -> Step {
        switch prompt {
        case .title(let text): screen.title(text)
        case .information(let text), .error(let text): screen.say(text)
        case .askHidden(let text): try answer(text, echo: false)
        case .askVisible(let text): try answer(text, echo: true)
        case .finished(let succeeded):
            screen.finish(succeeded: succeeded)
            return .finished(succeeded: succeeded)
        }
        return .underWay
    }

    private func answer(_ question: String, echo: Bool) throws(Failure) {
        do {
            let answer = try screen.ask(question, echo: echo) { line.isClosed }
            try line.say(.promptReply(answer))
        } catch TerminalError.abandoned {
            throw .lineLost
        } catch is TerminalError {
            throw .terminalLost
        } catch { throw .lineLost }
    }
}
