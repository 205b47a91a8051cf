// SPDX-License-Identifier: Apache-2.0
package import CallerIdentity
package import KeychainMessages
package import KeychainModel
package import KeychainLocalSocket
package import KeychainSecrets
internal import KeychainLinuxSystem

/// The connection to a prompter, which shows questions and returns the typed answers.
package final class Prompter: @unchecked Sendable {
    /// The number of questions that may wait behind the shown one.
    private static let mostWaiting = 3
    /// Shorter than a client's own timeout.
    private static let longestWait: Duration = .seconds(100)
    private static let glance: Duration = .milliseconds(200)

    package let user: UInt32
    package let place: PrompterPlace?
    /// nil for a prompter on a terminal.
    private let screen: LoginScreen?
    private let drawsWindows: Bool
    private let connection: ServerConnection
    /// Guards the turns, as one question is shown at a time, and `hungUp`.
    private let turn = Condition()
    private var isTaken = false
    private var waiting = 0
    private var hungUp: ContinuousClock.Instant?

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

    /// Returns when the prompter can't show questions any more.
    package func waitForEnd() { connection.waitForHangUp(orEndOf: screen?.server) }

    /// Whether a yes comes from a window on the user's own screen, where no program of a terminal
    /// could type it. Ask after the answer: once the display's server has ended, another program
    /// can take the display's name and show the dialog.
    package var showsWindows: Bool { drawsWindows && screen?.isAlive ?? false }

    /// False for a prompter in the background of a terminal: it could show a question, but not read
    /// the answer.
    var canAsk: Bool {
        guard isAlive else { return false }
        return place?.isTerminal == false || connection.process?.isInForeground ?? false
    }

    /// Waits behind at most three other questions. Each call that does not throw needs a
    /// `giveBack`.
    package func take(unless isMoot: () -> Bool = { false }) throws(RequestError) {
        turn.lock()
        defer { turn.unlock() }
        if isTaken { try waitForTurn(unless: isMoot) }
        // The question before may have ended with a hang-up.
        guard isAlive else { throw .refused(.interactionNotAllowed) }
        isTaken = true
    }

    private func waitForTurn(unless isMoot: () -> Bool) throws(RequestError) {
        guard waiting < Self.mostWaiting else { throw .refused(.tooManyRequests) }
        waiting += 1
        defer { waiting -= 1 }
        let deadline = ContinuousClock.now + Self.longestWait
        while isTaken {
            guard isAlive, !isMoot() else { throw .refused(.interactionNotAllowed) }
            guard ContinuousClock.now < deadline else { throw .refused(.tooManyRequests) }
            _ = turn.wait(until: min(deadline, .now + Self.glance))
        }
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

    /// The answer to the question; nil when the user cancelled. An answer that was sent before the
    /// question is not the user's, and refused.
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

    /// Ends the connection, also for a thread that waits for a reply: a prompter understands no
    /// other end of a question. A registered one then registers again.
    func hangUp() {
        turn.lock()
        // A prompter that has left by itself does not come back.
        if hungUp == nil, isAlive { hungUp = .now }
        turn.unlock()
        connection.shutDown()
    }

    /// When this side hung up.
    var hungUpAt: ContinuousClock.Instant? {
        turn.lock()
        defer { turn.unlock() }
        return hungUp
    }
}
