// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainLocalSocket
internal import KeychainSecrets

/// A program that provides the key of a protector: one process for each exchange, so that a device
/// that does not answer or is not touched blocks nothing else, and its libraries are not loaded
/// beside the class keys.
struct ProtectorProgram: Sendable {
    let path: String

    /// The program exits with a refusal's number where it has no answer.
    func ask(
        _ arguments: [String], _ question: HeldSecret, deadlineSeconds: Double
    ) throws(RequestError) -> HeldSecret {
        let exchange: ChildExchange
        do {
            exchange = try ChildExchange(
                with: path, arguments, question: question, deadlineSeconds: deadlineSeconds)
        } catch { throw error == .tooLarge ? .failed(.damaged) : .state(.protectorNotAvailable) }
        if exchange.code == 0, let answer = exchange.answer { return answer }
        throw exchange.code.flatMap { UInt32(exactly: $0) }.flatMap { RequestError(rawValue: $0) }
            ?? .failed(.protectorFailed)
    }
}
