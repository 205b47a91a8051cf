// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainLocalSocket
internal import KeychainModel
internal import KeychainSecrets

/// The connection to the daemon, which must run as root: no other process may ask for a password
/// here.
struct DaemonLine {
    private let connection: ClientConnection

    init(_ socket: String) throws(SocketError) {
        connection = try ClientConnection(path: socket, requiredPeer: 0)
    }

    func say(_ words: ClientMessage) throws(SocketError) {
        let (message, secrets) = words.encoded()
        try connection.send(Frame(message: message, secrets: secrets))
    }

    /// Waits without a limit, or throws `.timedOut` where no message has begun within `patience`.
    func hear(within patience: Duration? = nil) throws(SocketError) -> ServerMessage {
        let frame: Frame
        do throws(SocketError) {
            frame = try connection.receive(.answer, within: patience)
        } catch {
            guard let refusal = Self.refusal(error) else { throw error }
            return .refusal(refusal)
        }
        do { return try ServerMessage(frame.message, secrets: frame.secrets) } catch {
            switch error {
            case .older, .firstVersion: return .refusal(.state(.olderService))
            case .newer: return .refusal(.state(.olderProgram))
            case .malformed: throw .malformed
            }
        }
    }

    /// Says which side is older, where the versions differ; nil for other errors.
    private static func refusal(_ error: SocketError) -> RequestError? {
        switch error {
        case .older: .state(.olderService)
        case .newer: .state(.olderProgram)
        default: nil
        }
    }

    /// Why there is no connection, and what helps.
    static func complaint(_ error: SocketError, at socket: String) -> String {
        refusal(error).map(DaemonConversation.meaning)
            ?? "no keychain service of root's answers at \(socket)"
    }

    var isClosed: Bool { connection.peerHungUp() }
}
