// SPDX-License-Identifier: Apache-2.0
package import CallerIdentity
package import KeychainMessages
package import KeychainModel
package import KeychainLocalSocket
package import KeychainSecrets
package import KeychainLinuxSystem
internal import KeychainUserPresence
internal import Synchronization

/// The connection to a prompter, which shows questions and returns the typed answers.
package final class Prompter: @unchecked Sendable {
    /// The number of questions that may wait behind the shown one.
    private static let mostWaiting = 3
    /// Shorter than a client's own timeout.
    private static let longestWait: Duration = .seconds(100)
    private static let glance: Duration = .milliseconds(200)
    /// While a question stands on a terminal, how often it is looked who could read there: less often
    /// where many processes make a look long. The first look comes when the prompter has closed the
    /// terminal to further programs.
    private static let looksEvery: Duration = .seconds(1)
    private static let restsFor = 20
    private static let firstLookAfter: Duration = .milliseconds(300)

    package let user: UInt32
    package let place: PrompterPlace?
    /// nil for a prompter on a terminal.
    private let screen: LoginScreen?
    private let drawsWindows: Bool
    private let connection: ServerConnection
    /// Who else could read what is typed; nil where that is no terminal.
    private let otherReader: (@Sendable () -> SharedTerminal.Finding)?
    /// Whether a question stands, and when it is looked for meanwhile.
    private let looks = Mutex<(isAsking: Bool, due: ContinuousClock.Instant)>((false, .now))
    /// One message after the other: two threads send.
    private let sending = Mutex(())
    /// Guards the turns, as one question is shown at a time, and `hungUp`.
    private let turn = Condition()
    private var isTaken = false
    private var waiting = 0
    private var hungUp: ContinuousClock.Instant?

    package init(
        _ connection: ServerConnection, at place: PrompterPlace?, _ screen: LoginScreen? = nil,
        drawsWindows: Bool = false,
        otherReader: @escaping @Sendable (SharedTerminal) -> SharedTerminal.Finding
    ) {
        self.connection = connection
        self.place = place
        self.screen = screen
        self.drawsWindows = drawsWindows
        if let terminal = place?.shared {
            self.otherReader = { otherReader(terminal) }
        } else {
            self.otherReader = nil
        }
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
        let isSent = sending.withLock { _ in
            (try? connection.send(Frame(message: message, secrets: secrets))) != nil
        }
        guard isSent else { throw .refused(.interactionNotAllowed) }
    }

    // MARK: Other readers of a terminal

    /// Refuses to ask on a terminal where another program could read the answer, and says so there.
    func refuseOtherReaders() throws(RequestError) {
        guard let finding = otherReader?(), let words = Self.words(finding) else { return }
        try? show(.error(words + " Nothing is asked here meanwhile."))
        throw .refused(.interactionNotAllowed)
    }

    /// Whether another program could read the answer that is being typed. It is looked for once a
    /// second, and told where the question stands.
    func isOverheard() -> Bool {
        guard looks.withLock({ $0.isAsking && $0.due <= .now }) else { return false }
        let began = ContinuousClock.now
        let isUnheard = isUnheard()
        let rest = began.duration(to: .now) * Self.restsFor
        looks.withLock { $0.due = .now + max(rest, Self.looksEvery) }
        return !isUnheard
    }

    /// False where another program could have read what was typed.
    private func isUnheard() -> Bool {
        guard let finding = otherReader?(), let words = Self.words(finding) else { return true }
        let advice =
            finding == .unknown
            ? "" : " If that was a password, change it: another program may have it."
        try? show(.error(words + " What you typed was not used." + advice))
        return false
    }

    private static func words(_ finding: SharedTerminal.Finding) -> String? {
        switch finding {
        case .noOtherReader: return nil
        case .reader(let reader):
            let name = reader.executable.map(ShownText.quotedPath)
            return """
                \(name ?? "A program") (process \(reader.process)) has this terminal open from \
                elsewhere, and could read what is typed here. End it, or use another terminal.
                """
        case .notInTime:
            return """
                You have too many processes or open files to find out whether one of them could \
                read what is typed here.
                """
        case .unknown:
            return "Whether another program could read what is typed here can't be told just now."
        }
    }

    /// The answer to the question; nil when the user cancelled. An answer that was sent before the
    /// question is not the user's, and refused; so is one that another program could have read.
    package func ask(_ question: ServerMessage.Prompt) throws(RequestError) -> HeldSecret? {
        guard !connection.hasUnread else { throw .refused(.interactionNotAllowed) }
        try refuseOtherReaders()
        looks.withLock { $0 = (true, .now + Self.firstLookAfter) }
        defer { looks.withLock { $0.isAsking = false } }
        try show(question)
        let answer = try answer()
        guard answer == nil || isUnheard() else { throw .refused(.interactionNotAllowed) }
        return answer
    }

    private func answer() throws(RequestError) -> HeldSecret? {
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

extension PrompterPlace {
    /// nil for a display.
    fileprivate var shared: SharedTerminal? {
        guard case .terminal(let user, let device, let session) = self else { return nil }
        return SharedTerminal(device: device, session: session, user: user)
    }
}
