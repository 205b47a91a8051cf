// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainMessages
internal import KeychainModel
internal import KeychainLocalSocket
internal import KeychainSecrets

/// One request, and all messages until its answer is complete.
struct Conversation {
    enum Failure: Error {
        /// With the ids of the policy's rules that refused.
        case ended(RequestError, because: [String])
        /// The daemon ended the connection, or sent an invalid message.
        case broken
        /// The daemon had ended the connection, and took nothing of the request.
        case unsent

        /// Tells a daemon of another version from one that has gone.
        init(_ error: SocketError) {
            self =
                switch error {
                case .older: .ended(.state(.olderService), because: [])
                case .newer: .ended(.state(.olderProgram), because: [])
                default: .broken
                }
        }
    }

    /// The longest silence of the daemon; longer than any question to the user may take.
    private static let longestSilence = Duration.seconds(180)
    private static let mostQuestions = 20

    private let connection: ClientConnection
    private let socket: String

    init(_ connection: ClientConnection, socket: String) {
        self.connection = connection
        self.socket = socket
    }

    /// A deputy names the peer that it makes the request for, and has no terminal to offer.
    func answer<V: Verb>(
        to verb: V, in context: AuthenticationContext?, relay: Relay? = nil,
        passing descriptor: Descriptor? = nil
    ) throws(Failure) -> V.Answer {
        let offersTerminal = relay == nil && PrompterLauncher.hasControllingTerminal
        try say(
            ClientMessage.encode(
                verb, context: context, relay: relay, offersTerminal: offersTerminal), descriptor)
        return try answer(to: V.self, offersTerminal: offersTerminal)
    }

    /// Sends a verb for a deputy's peer, and leaves the answer to `answer(to:)`.
    func begin<V: Verb>(
        _ verb: V, in context: AuthenticationContext?, relay: Relay
    ) throws(Failure) {
        try say(
            ClientMessage.encode(
                verb, context: context, relay: relay, offersTerminal: false), nil)
    }

    /// Receives the answer to a verb that was sent.
    func answer<V: Verb>(
        to verb: V.Type, offersTerminal: Bool = false
    ) throws(Failure) -> V.Answer {
        var questions = 0
        var part = try nextPart(offersTerminal: offersTerminal, &questions)
        var answer = try decoded(part, to: V.self)
        while part.continues {
            part = try nextPart(offersTerminal: offersTerminal, &questions)
            answer.append(part: try decoded(part, to: V.self))
        }
        return answer
    }

    private func decoded<V: Verb>(
        _ part: AnswerMessage, to verb: V.Type
    ) throws(Failure) -> V.Answer {
        try understood { () throws(MessageError) in try part.decoded(to: verb) }
    }

    /// The next part of the answer. Shows what the user is asked before it comes.
    private func nextPart(
        offersTerminal: Bool, _ questions: inout Int
    ) throws(Failure) -> AnswerMessage {
        var prompter: PrompterLauncher?
        defer { prompter?.end() }
        while true {
            switch try hear() {
            case .refusal(let refusal, let rules): throw .ended(refusal, because: rules)
            case .answer(let part): return part
            case .needsPrompter(let challenge, let program):
                // One prompter per question, where the answer to the first was not enough. The
                // program that the daemon names is root's.
                questions += 1
                guard offersTerminal, questions <= Self.mostQuestions else { throw .broken }
                prompter?.end()
                prompter = PrompterLauncher(
                    program: program, challenge: challenge, socket: socket)
                guard prompter != nil else {
                    throw .ended(.refused(.interactionNotAllowed), because: [])
                }
            case .prompt, .registered: throw .broken
            }
        }
    }

    private func say(
        _ message: (message: [UInt8], secrets: HeldSecret?), _ descriptor: Descriptor?
    ) throws(Failure) {
        do {
            try connection.send(
                Frame(message: message.message, secrets: message.secrets, passing: descriptor))
        } catch {
            switch error {
            case .tooLarge: throw .ended(.invalid(.dataTooLarge), because: [])
            case .closed: throw .unsent
            default: throw .broken
            }
        }
    }

    private func hear() throws(Failure) -> ServerMessage {
        let frame: Frame
        do {
            frame = try connection.receive(.answer, within: Self.longestSilence)
        } catch { throw Failure(error) }
        return try understood { () throws(MessageError) in
            try ServerMessage(frame.message, secrets: frame.secrets)
        }
    }

    /// Tells a daemon of another version from one that sends invalid messages.
    private func understood<R>(_ read: () throws(MessageError) -> R) throws(Failure) -> R {
        do { return try read() } catch {
            switch error {
            case .older, .firstVersion: throw .ended(.state(.olderService), because: [])
            case .newer: throw .ended(.state(.olderProgram), because: [])
            case .malformed: throw .broken
            }
        }
    }
}
