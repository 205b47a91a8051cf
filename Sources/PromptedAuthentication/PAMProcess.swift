// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainModel
internal import KeychainLinuxSystem
internal import KeychainLocalSocket
internal import ProgramHandoff

/// One transaction of a PAM service in a process of its own. Its modules may sleep, crash or talk
/// without end, and the daemon goes on.
struct PAMProcess: Sendable {
    /// Twenty rounds of sixteen messages, and the messages of `keychain-auth` itself.
    private static let mostMessages = 20 * 16 + 8
    /// Seconds for a process to end after its last message.
    private static let farewell = 1.0
    private static let glance = 0.5

    let starter: any ProgramStarter
    let request: AuthenticationRequest
    /// Counted from the moment the question is shown.
    let deadline: Duration

    /// - Parameter hasAnswered: whether anything was typed, also where the question failed.
    func ask(
        _ title: ServerMessage.Prompt, on prompter: Prompter,
        unless isMoot: @escaping @Sendable () -> Bool,
        _ hasAnswered: inout Bool
    ) throws(RequestError) -> ConversationOutcome {
        let (channel, running): (ConversationChannel, any RunningProgram)
        do throws(StarterError) { (channel, running) = try start() } catch {
            switch error {
            case .noService: return .unavailable
            case .busy: throw .refused(.tooManyRequests)
            case .failed, .notAnswering, .notInstalled, .badRequest:
                throw .failed(.noAuthentication)
            }
        }
        defer { if running.state(withinSeconds: Self.farewell) == .running { running.end() } }
        let watch = PromptWatchdog(
            until: .now + deadline,
            unless: {
                isMoot() || prompter.isOverheard() || running.state(withinSeconds: 0) == .lost
            },
            end: {
                running.end()
                // A process that a module left running may hold the other end.
                channel.hangUp()
                prompter.hangUp()
            })
        watch.start()
        defer { watch.stop() }
        do throws(RequestError) {
            return try converse(title, channel, running, prompter, &hasAnswered)
        } catch {
            // A lost process explains the error: the prompter was hung up, or an answer had no
            // reader.
            guard running.state(withinSeconds: 0) != .lost else {
                throw .failed(.noAuthentication)
            }
            throw error
        }
    }

    private func converse(
        _ title: ServerMessage.Prompt, _ channel: ConversationChannel,
        _ running: any RunningProgram,
        _ prompter: Prompter, _ hasAnswered: inout Bool
    ) throws(RequestError) -> ConversationOutcome {
        try prompter.show(title)
        for _ in 0..<Self.mostMessages {
            guard let message = Self.next(channel, running) else {
                guard running.state(withinSeconds: Self.farewell) != .lost else {
                    throw .failed(.noAuthentication)
                }
                return .failed
            }
            switch message {
            case .askHidden(let text):
                try answer(.askHidden(text), prompter, channel, &hasAnswered)
            case .askVisible(let text):
                try answer(.askVisible(text), prompter, channel, &hasAnswered)
            case .info(let text): try prompter.show(.information(text))
            case .error(let text): try prompter.show(.error(text))
            case .finished(let outcome): return outcome
            case .title, .answer, .cancel: throw .failed(.internalError)
            }
        }
        return .failed
    }

    /// nil where no further message will come, also where a process that a module left running
    /// keeps the other end open.
    private static func next(
        _ channel: ConversationChannel, _ running: any RunningProgram
    ) -> ConversationMessage? {
        var hasEnded = false
        while true {
            do throws(SocketError) { return try channel.receive(deadlineSeconds: glance) } catch {
                guard error == .timedOut, !hasEnded else { return nil }
                hasEnded = running.state(withinSeconds: 0) != .running
            }
        }
    }

    private func start() throws(StarterError) -> (
        ConversationChannel, any RunningProgram
    ) {
        let (here, there): (ConversationChannel, ConversationChannel)
        do { (here, there) = try ConversationChannel.pair() } catch { throw .failed }
        return (here, try starter.start(.authentication(request), passing: [there.descriptor]))
    }

    private func answer(
        _ question: ServerMessage.Prompt, _ prompter: Prompter, _ channel: ConversationChannel,
        _ hasAnswered: inout Bool
    ) throws(RequestError) {
        let reply = try prompter.ask(question)
        if reply != nil { hasAnswered = true }
        do { try channel.send(reply.map { .answer($0) } ?? .cancel) } catch {
            throw .refused(.authenticationFailed)
        }
    }
}
