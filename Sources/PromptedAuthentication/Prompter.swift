// SPDX-License-Identifier: Apache-2.0
package import CallerIdentity
package import KeychainMessages
package import KeychainModel
package import KeychainLocalSocket
package import KeychainSecrets
internal import KeychainLinuxSystem

/// A prompter's connection: shows what it is told, and brings back what was typed.
package final class Prompter: @unchecked Sendable {
    /// Questions that wait behind the one that is shown.
    private static let mostWaiting = 3
    /// Less than a client's own patience.
    private static let longestWait: Duration = .seconds(100)
    private static let glance: Duration = .milliseconds(200)

    package let user: UInt32
    package let place: PrompterPlace?
    /// nil for one on a terminal.
    private let screen: LoginScreen?
    private let drawsWindows: Bool
    private let connection: ServerConnection
    /// One question at a time.
    private let turn = Condition()
    private var isTaken = false
    private var waiting = 0

    package init(
        _ connection: ServerConnection, at place: PrompterPlace?, _ screen: LoginScreen? = nil,
        drawsWindows: Bool = false
    ) {
        self.connection = connection
        self.place = place
        self.screen = screen
        self.drawsWindows = drawsWindows
        user = connection.peer.user
    }

    package var isAlive: Bool { !connection.peerHungUp() && screen?.isAlive ?? true }

    /// Returns when it can show nothing any more.
    package func waitForEnd() { connection.waitForHangUp(orEndOf: screen?.server) }

    /// Whether a yes came from a window on the user's own screen, where no program of a terminal
    /// could type it. Ask after the answer: another program can have the display's name, and show
    /// the dialog, once its server has ended.
    package var showsWindows: Bool { drawsWindows && screen?.isAlive ?? false }

    /// On a terminal a prompter in the background could show a question, and hear no answer.
    var canAsk: Bool {
        guard isAlive else { return false }
        return place?.isTerminal == false || connection.process?.isInForeground ?? false
    }

    /// Waits behind at most three other questions. Each that does not throw is followed by a
    /// `giveBack`.
    package func take(unless isMoot: () -> Bool = { false }) throws(RequestError) {
        turn.lock()
        defer { turn.unlock() }
        guard isTaken else {
            isTaken = true
            return
        }
        guard waiting < Self.mostWaiting else { throw .refused(.tooManyRequests) }
        waiting += 1
        defer { waiting -= 1 }
        let deadline = ContinuousClock.now + Self.longestWait
        while isTaken {
            guard isAlive, !isMoot() else { throw .refused(.interactionNotAllowed) }
            guard ContinuousClock.now < deadline else { throw .refused(.tooManyRequests) }
            _ = turn.wait(until: min(deadline, .now + Self.glance))
        }
        isTaken = true
    }

    package func giveBack() {
        turn.lock()
        isTaken = false
        turn.broadcast()
        turn.unlock()
    }

    func show(_ prompt: ServerMessage.Prompt) throws(RequestError) {
        let (message, secrets) = ServerMessage.prompt(prompt).encoded()
        do { try connection.send(Frame(message: message, secrets: secrets)) } catch {
            throw .refused(.interactionNotAllowed)
        }
    }

    /// The answer to the question; nil when the user cancelled. One that was there before it was
    /// asked is not the user's answer.
    package func ask(_ question: ServerMessage.Prompt) throws(RequestError) -> HeldSecret? {
        guard !connection.hasUnread else { throw .refused(.interactionNotAllowed) }
        try show(question)
        do {
            let frame = try connection.receive(.prompterReply)
            guard
                case .promptReply(let answer) = try ClientMessage(
                    frame.message, secrets: frame.secrets)
            else { throw RequestError.invalid(.badRequest) }
            return answer
        } catch { throw .refused(.interactionNotAllowed) }
    }

    /// Ends the connection; a reply that is waited for is waited for no longer.
    func hangUp() { connection.shutDown() }
}
