// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainLocalSocket
internal import KeychainMessages
internal import KeychainModel
internal import LoginHandoff
internal import WorkerHandoff

/// A peer whose user number has no account, and so no worker: a user with namespaces has thousands
/// of such numbers.
enum Stranger {
    private static let patience: Duration = .seconds(10)

    /// Tells it that it is not entitled to anything.
    static func refuse(_ descriptor: Descriptor, _ socket: ConnectedSocket) {
        guard socket == .requests else {
            try? LoginConnection(descriptor).reply(.refused(.notAllowed))
            return
        }
        guard let connection = try? ServerConnection(descriptor),
            (try? connection.greet()) != nil
        else { return }
        // It is read briefly, so that it receives the answer.
        _ = try? connection.receive(.shortRequest, within: patience)
        let (message, secrets) = ServerMessage.refusal(.refused(.notEntitled)).encoded()
        try? connection.send(Frame(message: message, secrets: secrets))
    }
}
