// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainModel
internal import KeychainLinuxSystem
internal import KeychainLocalSocket

/// One transaction of a PAM service in a process of its own, whatever its modules do in there: sleep,
/// crash, or talk without end.
struct PAMProcess: Sendable {
    /// Twenty rounds of sixteen messages, and what `keychain-auth` says itself.
    private static let mostMessages = 20 * 16 + 8
    /// For a process that has said its last word.
    private static let farewell = 0.2
    private static let glance = 0.5

    let program: String
    let service: String
    let account: String
    /// Who asks, where that is another person than the account's.
    var asker: String?
    /// From the moment the question is shown.
    let deadline: Duration

    /// - Parameter hasAnswered: whether anything was typed, however the question ended.
    func ask(
        _ title: String, on prompter: Prompter, unless isMoot: @escaping @Sendable () -> Bool,
        _ hasAnswered: inout Bool
    ) throws(RequestError) -> ConversationOutcome {
        let (channel, child) = try start()
        defer { if child.wait(deadlineSeconds: Self.farewell) == nil { child.kill() } }
        let watch = PromptWatchdog(
            until: .now + deadline, unless: isMoot,
            end: {
                child.kill()
                // What a module left running may hold the other end.
                channel.hangUp()
                prompter.hangUp()
            })
        watch.start()
        defer { watch.stop() }
        try prompter.show(.title(title))
        for _ in 0..<Self.mostMessages {
            guard let message = Self.next(channel, child) else { return .failed }
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

    /// nil where nothing will follow, also where a module left something running that keeps the other
    /// end open.
    private static func next(
        _ channel: ConversationChannel, _ child: ChildProcess
    ) -> ConversationMessage? {
        var hasEnded = false
        while true {
            do throws(SocketError) { return try channel.receive(deadlineSeconds: glance) } catch {
                guard error == .timedOut, !hasEnded else { return nil }
                hasEnded = child.wait(deadlineSeconds: 0) != nil
            }
        }
    }

    private func start() throws(RequestError) -> (ConversationChannel, ChildProcess) {
        do {
            let (here, there) = try ConversationChannel.pair()
            let child = try ChildProcess(
                executable: program, arguments: [service, account] + (asker.map { [$0] } ?? []),
                environment: [],
                passing: [(source: there.descriptor.number, target: 3)], newSession: true)
            return (here, child)
        } catch { throw .failed(.internalError) }
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
