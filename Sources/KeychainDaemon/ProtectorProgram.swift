// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainLocalSocket
internal import KeychainModel
internal import KeychainSecrets
internal import ProgramHandoff

/// A program that provides the key of a protector: one process for each exchange, so that a device
/// that does not answer or is not touched blocks nothing else, and its libraries are not loaded
/// beside the class keys.
struct ProtectorProgram: Sendable {
    /// Seconds for a program to end after its answer.
    private static let farewell = 5.0

    let starter: any ProgramStarter

    /// The program exits with a refusal's number where it has no answer. `question` has at most
    /// `ConversationChannel.longestAnswer` bytes, and so has the answer.
    func ask(
        _ request: ProgramRequest, _ question: HeldSecret, deadlineSeconds: Double
    ) throws(RequestError) -> HeldSecret {
        let (channel, running) = try begin(request, question)
        defer { running.end() }
        let answer = try answer(on: channel, deadlineSeconds)
        switch running.state(withinSeconds: Self.farewell) {
        case .ended(let status):
            if status.isSuccess, let answer { return answer }
            throw status.code.flatMap { UInt32(exactly: $0) }
                .flatMap { RequestError(rawValue: $0) } ?? .failed(.protectorFailed)
        case .running: throw .failed(.protectorFailed)
        case .lost: throw .failed(.noAuthentication)
        }
    }

    /// Starts the program. Afterwards the program alone holds its end, so that this process's end
    /// notices when the program ends.
    private func begin(
        _ request: ProgramRequest, _ question: HeldSecret
    ) throws(RequestError) -> (ConversationChannel, any RunningProgram) {
        let (ours, theirs): (ConversationChannel, ConversationChannel)
        do throws(SocketError) {
            (ours, theirs) = try ConversationChannel.pair()
            try ours.send(.answer(question))
        } catch { throw Self.refusal(error) }
        do throws(StarterError) {
            return (ours, try starter.start(request, passing: [theirs.descriptor]))
        } catch {
            switch error {
            case .notInstalled, .failed, .noService: throw .state(.protectorNotAvailable)
            case .badRequest: throw .failed(.protectorFailed)
            case .busy: throw .refused(.tooManyRequests)
            case .notAnswering: throw .failed(.noAuthentication)
            }
        }
    }

    /// nil where the program ends without an answer, or its time is over.
    private func answer(
        on channel: ConversationChannel, _ deadlineSeconds: Double
    ) throws(RequestError) -> HeldSecret? {
        do throws(SocketError) {
            guard case .answer(let secret) = try channel.receive(deadlineSeconds: deadlineSeconds)
            else { return nil }
            return secret
        } catch {
            guard error == .closed || error == .timedOut else { throw Self.refusal(error) }
            return nil
        }
    }

    private static func refusal(_ error: SocketError) -> RequestError {
        error == .tooLarge ? .failed(.damaged) : .state(.protectorNotAvailable)
    }
}
