// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import KeychainLocalSocket
internal import PAMSession
internal import KeychainSecrets

/// Hands PAM's questions to the channel and waits for the answers.
final class ChannelConversation: PAMConversation {
    private let channel: ConversationChannel
    private(set) var hasAnswered = false

    init(_ channel: ConversationChannel) { self.channel = channel }

    func respond(to prompt: PAMPrompt) -> HeldSecret? {
        switch prompt {
        case .hidden(let text): return ask(.askHidden(text))
        case .visible(let text): return ask(.askVisible(text))
        case .information(let text): say(.info(text))
        case .error(let text): say(.error(text))
        }
        return nil
    }

    func say(_ message: ConversationMessage) {
        // The other end is closed: the question is moot.
        if (try? channel.send(message)) == nil { exit(1) }
    }

    private func ask(_ question: ConversationMessage) -> HeldSecret? {
        say(question)
        do {
            switch try channel.receive(deadlineSeconds: nil) {
            case .answer(let answer):
                hasAnswered = true
                return answer
            default: return nil
            }
        } catch { exit(1) }
    }
}
