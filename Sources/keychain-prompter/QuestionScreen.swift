// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainSecrets

enum ScreenFailure: Error {
    /// The client no longer waits for the answer.
    case abandoned
    /// The screen can show nothing any more.
    case lost
}

/// A screen that shows a conversation.
protocol QuestionScreen {
    /// Says that the daemon registered this prompter.
    func waits()
    /// Begins a question: which program asks for what, in the daemon's words, and the window over
    /// which the program wants it, which a terminal has not.
    func title(_ text: String, over window: XWindow?)
    /// Shows a message of PAM.
    func inform(_ text: String)
    func complain(_ text: String)
    /// Whether there are messages of PAM to show with the next question. If none follows soon,
    /// `showNews` shows them.
    var hasNews: Bool { get }
    func showNews()
    /// nil where the user cancels.
    func ask(
        _ question: String, echo: Bool, unless isOver: () -> Bool
    ) throws(ScreenFailure) -> HeldSecret?
    /// nil where the user denies.
    func choose(
        _ choices: [TrustChoice], unless isOver: () -> Bool
    ) throws(ScreenFailure) -> TrustChoice?
    /// Looks whether a yes can be asked for in a window, where no program of a terminal could type
    /// it. What it says holds until it is called again.
    func lookForWindows() -> Bool
    /// The program that shows the windows, if there is one.
    var server: DisplayServer? { get }
    func confirm(_ question: String, unless isOver: () -> Bool) throws(ScreenFailure) -> Bool
    func finish(succeeded: Bool)
}

extension QuestionScreen {
    private static var mostTries: Int { 3 }

    /// A new secret, typed twice; nil where the user cancels, or never types the same twice.
    func askNew(
        _ question: String, unless isOver: () -> Bool
    ) throws(ScreenFailure) -> HeldSecret? {
        for _ in 0..<Self.mostTries {
            guard let typed = try ask(question, echo: false, unless: isOver) else { return nil }
            guard typed.bytes.count > 0 else {
                complain("An empty password is none.")
                continue
            }
            guard let again = try ask("The same again: ", echo: false, unless: isOver) else {
                return nil
            }
            if typed.bytes.matches(again.bytes) { return typed }
            complain("The two were not the same.")
        }
        return nil
    }
}
