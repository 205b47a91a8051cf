// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainSecrets

enum ScreenFailure: Error {
    /// The client no longer waits for the answer.
    case abandoned
    /// Nothing can be shown here any more.
    case lost
}

/// Where a conversation is shown.
protocol QuestionScreen {
    /// The daemon took this prompter.
    func waits()
    /// A question begins: who asks for what, in the daemon's words.
    func title(_ text: String)
    /// What PAM has to say.
    func inform(_ text: String)
    func complain(_ text: String)
    /// Whether PAM has said something that is shown with what follows; and is to be shown now,
    /// because nothing does.
    var hasNews: Bool { get }
    func showNews()
    /// nil where the user said no.
    func ask(
        _ question: String, echo: Bool, unless isOver: () -> Bool
    ) throws(ScreenFailure) -> HeldSecret?
    /// nil where the user said no.
    func choose(
        _ choices: [TrustChoice], unless isOver: () -> Bool
    ) throws(ScreenFailure) -> TrustChoice?
    /// Whether a yes can be asked for, where no program of a terminal could type it.
    var showsWindows: Bool { get }
    /// The program that shows the windows, where there are any.
    var server: DisplayServer? { get }
    func confirm(_ question: String, unless isOver: () -> Bool) throws(ScreenFailure) -> Bool
    func finish(succeeded: Bool)
}

extension QuestionScreen {
    private static var mostTries: Int { 3 }

    /// A new secret, typed twice; nil where the user said no, or never typed the same.
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
