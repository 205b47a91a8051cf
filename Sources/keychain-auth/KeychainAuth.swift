// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import KeychainLinuxSystem
internal import KeychainLocalSocket
internal import PAMSession

/// `keychain-auth SERVICE USER ACCOUNT [ASKER]`: one PAM authentication for a user, by number, its
/// conversation on descriptor 3. Every PAM module of the machine may run in here, and nothing else
/// that could be hurt.
@main
struct KeychainAuth {
    private static let channelDescriptor: Int32 = 3
    /// Three wrong answers end the question.
    private static let mostTries = 3
    /// A backstop: the process that started this ends it sooner.
    private static let longestLife: UInt32 = 90

    static func main() {
        Surroundings.clear()
        guard (try? ProcessHardening.apply()) != nil,
            let invocation = Invocation(CommandLine.arguments)
        else { exit(2) }
        alarm(longestLife)
        let channel = ConversationChannel(Descriptor(owning: channelDescriptor))
        let outcome = outcome(of: invocation, channel)
        try? channel.send(.finished(outcome))
        exit(outcome.exitStatus)
    }

    private static func outcome(
        of invocation: Invocation, _ channel: ConversationChannel
    ) -> ConversationOutcome {
        let conversation = ChannelConversation(channel)
        for attempt in 1...mostTries {
            do throws(PAMError) {
                try PAMTransaction.authenticate(
                    service: invocation.service, account: invocation.account,
                    asker: invocation.asker, conversation: conversation)
                return .success
            } catch {
                switch error {
                case .authenticationFailed where attempt < mostTries && conversation.hasAnswered:
                    conversation.say(.error("That was not right."))
                case .authenticationFailed:
                    return conversation.hasAnswered ? .tooManyTries : .failed
                case .cancelled: return .cancelled
                case .accountRefused: return .accountRefused
                case .tooManyTries, .tooManyRounds: return .tooManyTries
                case .serviceMissing, .system: return .unavailable
                case .userChanged: return .failed
                }
            }
        }
        return .tooManyTries
    }
}
