// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainSecrets
internal import Terminal

/// Shows a conversation on the terminal.
struct TerminalScreen: QuestionScreen {
    /// Shown where the terminal is not one that the user gave to this program.
    private static let warning = """
        This terminal belongs to the asking program, which could watch what you type.
        """

    private static let mostTries = 3

    enum Ownership { case user, askingProgram }

    private let terminal: Terminal
    private let ownership: Ownership

    init(_ ownership: Ownership) throws(TerminalError) {
        self.ownership = ownership
        terminal = try Terminal()
    }

    var isForeground: Bool { terminal.isForeground }

    func title(_ text: String, over window: XWindow?) {
        terminal.say("\nKeychain: \(text)")
        if ownership == .askingProgram { terminal.say(Self.warning) }
    }

    func waits() { terminal.say("keychain-prompter: waiting for questions.") }
    func inform(_ text: String) { terminal.say(text) }
    func complain(_ text: String) { terminal.say(text) }
    var hasNews: Bool { false }
    func lookForWindows() -> Bool { false }
    var server: DisplayServer? { nil }
    func showNews() {}

    func ask(
        _ question: String, echo: Bool, unless isOver: () -> Bool
    ) throws(ScreenFailure) -> HeldSecret? {
        try ask(question, echo: echo, for: nil, unless: isOver)
    }

    /// nil where the user cancels. Throws `.abandoned` once the other end of `listener` is closed,
    /// as the client then no longer waits.
    func ask(
        _ question: String, echo: Bool, for listener: Int32?,
        unless isOver: () -> Bool = { false }
    ) throws(ScreenFailure) -> HeldSecret? {
        while true {
            do throws(TerminalError) {
                return HeldSecret(
                    try terminal.ask(question, echo: echo, for: listener, unless: isOver))
            } catch {
                switch error {
                case .cancelled: return nil
                case .tooLong: terminal.say("That was too long.")
                case .shared:
                    terminal.say("Keychain: \(Terminal.isShared).")
                    return nil
                case .abandoned:
                    terminal.say("The program no longer waits for the answer.")
                    throw .abandoned
                case .noTerminal, .hungUp, .system: throw .lost
                }
            }
        }
    }

    /// Asks again, a few times, for an answer that is neither a choice nor the beginning of one.
    func choose(
        _ choices: [TrustChoice], unless isOver: () -> Bool
    ) throws(ScreenFailure) -> TrustChoice? {
        let words = choices.map { "[\($0.rawValue.prefix(1))]\($0.words.dropFirst())" }
        let question = "Let it? \(words.joined(separator: ", ")): "
        for _ in 0..<Self.mostTries {
            guard let typed = try ask(question, echo: true, unless: isOver) else { return nil }
            let word = String(decoding: typed.bytes.releasedFromLockedMemory(), as: UTF8.self)
                .lowercased()
            let meant = choices.filter { !word.isEmpty && $0.rawValue.hasPrefix(word) }
            if meant.count == 1 { return meant[0] }
        }
        return nil
    }

    /// False: any program on the terminal could type the yes.
    func confirm(_ question: String, unless isOver: () -> Bool) throws(ScreenFailure) -> Bool {
        false
    }

    func finish(succeeded: Bool) {
        terminal.say(succeeded ? "Keychain: confirmed." : "Keychain: not confirmed.")
    }
}

extension TrustChoice {
    /// Each text begins with the same letter as the choice's raw value.
    fileprivate var words: String {
        switch self {
        case .deny: "deny"
        case .once: "once"
        case .session: "session (until you log out)"
        case .always: "always"
        case .everything: "everything (all of it)"
        }
    }
}
