// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import KeychainMessages
internal import KeychainModel
internal import LocalSocket
internal import Secrets

/// A prompter's connection: shows what it is told, and brings back what was typed.
final class Prompter: @unchecked Sendable {
    let user: UInt32
    /// What it shows is out of reach of programs that write to its user's terminals.
    let showsWindows: Bool
    private let connection: ServerConnection
    /// One question at a time.
    private let turn = NSLock()
    private let ended = DispatchSemaphore(value: 0)

    init(_ connection: ServerConnection, showsWindows: Bool = false) {
        self.showsWindows = showsWindows
        self.connection = connection
        user = connection.peer.user
    }

    var isAlive: Bool { !connection.peerHungUp() }

    /// False while it is busy with another question.
    func tryTaking() -> Bool { turn.try() }
    func giveBack() { turn.unlock() }

    func show(_ prompt: DaemonWords.Prompt) throws(Refusal) {
        let (message, secrets) = DaemonWords.prompt(prompt).encoded()
        do { try connection.send(Frame(message: message, secrets: secrets)) } catch {
            throw .interactionNotAllowed
        }
    }

    /// The answer to the last question; nil when the user cancelled.
    func reply() throws(Refusal) -> HeldSecret? {
        do {
            let frame = try connection.receive(.prompterReply)
            guard
                case .promptReply(let answer) = try ClientWords(
                    frame.message, secrets: frame.secrets)
            else { throw Refusal.badRequest }
            return answer
        } catch { throw .interactionNotAllowed }
    }

    /// Ends the connection; a reply that is waited for is waited for no longer.
    func hangUp() { connection.shutDown() }
}
