// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainLocalSocket
internal import Terminal

/// Answers `keychain-auth` directly, without a daemon: the library that started both processes
/// passed the other end of the conversation as descriptor 3.
struct DirectPrompter {
    private static let descriptor: Int32 = 3
    private static let deadlineSeconds = 120.0

    func run() -> Int32 {
        guard let screen = try? TerminalScreen(.askingProgram), screen.isForeground else {
            Complaint.say("the asking program is not in the foreground of a terminal")
            return 1
        }
        let channel = ConversationChannel(Descriptor(owning: Self.descriptor))
        do {
            while true {
                let message = try channel.receive(deadlineSeconds: Self.deadlineSeconds)
                if case .finished(let outcome) = message {
                    screen.finish(succeeded: outcome == .success)
                    return 0
                }
                try show(message, on: screen, channel)
            }
        } catch { return 1 }
    }

    private func show(
        _ message: ConversationMessage, on screen: TerminalScreen, _ channel: ConversationChannel
    ) throws {
        switch message {
        case .title(let text): screen.title(text, over: nil)
        case .info(let text): screen.inform(text)
        case .error(let text): screen.complain(text)
        case .askHidden(let text): try answer(text, echo: false, on: screen, channel)
        case .askVisible(let text): try answer(text, echo: true, on: screen, channel)
        case .answer, .cancel, .finished: throw SocketError.malformed
        }
    }

    private func answer(
        _ question: String, echo: Bool, on screen: TerminalScreen, _ channel: ConversationChannel
    ) throws {
        let answer = try screen.ask(question, echo: echo, for: Self.descriptor)
        try channel.send(answer.map { .answer($0) } ?? .cancel)
    }
}
