// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import Pinentry
internal import KeychainSecrets
internal import Terminal

/// Shows a conversation in windows: one dialog for each message or question, with the daemon's
/// title at its top and PAM's texts below.
final class DesktopScreen: QuestionScreen {
    /// Some toolkits parse text as markup where its first line looks like it. This first line does
    /// not.
    private static let heading = "The keychain asks:"
    private static let hiddenAnyway = "(What you type is not shown.)"
    private static let longestPrompt = 40
    /// The number of PAM's messages that are kept for the next dialog; the latest ones win.
    private static let mostNews = 4

    private let display: DisplayEnvironment
    /// What the daemon is told, whatever works later: a yes comes from a pinentry's own window then
    /// or not at all. On a terminal it could be typed by the program that gave the terminal.
    private var showsWindows = false
    private var title = ""
    private var window: XWindow?
    private var information: [String] = []
    private var complaints: [String] = []
    private(set) var hasNews = false
    /// The dialog shown while no question is asked.
    private var notice: PinentryDialog?

    init(_ display: DisplayEnvironment) { self.display = display }

    func lookForWindows() -> Bool {
        showsWindows = PinentryDialog.hasWindow(display)
        return showsWindows
    }

    func waits() { StandardStream.output.write("keychain-prompter: waiting for questions.\n") }

    func title(_ text: String, over window: XWindow?) {
        forget()
        title = text
        self.window = window
    }

    func inform(_ text: String) {
        information = (information + [text]).suffix(Self.mostNews)
        hasNews = true
    }

    func complain(_ text: String) {
        complaints = (complaints + [text]).suffix(Self.mostNews)
        hasNews = true
    }

    func showNews() {
        hasNews = false
        notice = nil
        guard let dialog = try? opened(), !dialog.usesTerminal else { return }
        guard (try? dialog.show(words(prompt: nil, echo: false))) != nil else { return }
        notice = dialog
    }

    func ask(
        _ question: String, echo: Bool, unless isOver: () -> Bool
    ) throws(ScreenFailure) -> HeldSecret? {
        notice = nil
        while true {
            do throws(PinentryError) {
                let answer = try dialog(words(prompt: question, echo: echo), isOver)
                (information, complaints, hasNews) = ([], [], false)
                return answer
            } catch {
                switch error {
                case .cancelled: return nil
                case .tooLong: complaints = ["That was too long."]
                case .abandoned: throw .abandoned
                case .notShown: throw .lost
                }
            }
        }
    }

    /// Asks in one dialog after the other, each with two buttons, as some pinentries have no more.
    /// Closing a dialog gives the choice that allows less.
    func choose(
        _ choices: [TrustChoice], unless isOver: () -> Bool
    ) throws(ScreenFailure) -> TrustChoice? {
        var left = choices.filter { $0 != .deny }[...]
        guard var chosen = left.popFirst(),
            try confirms("May it?", yes: "Let it", no: "Deny", isOver)
        else { return nil }
        while let next = left.popFirst() {
            let isLongest = left.allSatisfy { $0 == .everything }
            let goesOn =
                next == .everything
                ? try confirms(
                    "This item, or all that its program keeps?", yes: next.words,
                    no: "Only this one", isOver)
                : try confirms(
                    "For how long?", yes: isLongest ? next.words : "Longer", no: chosen.words,
                    isOver)
            guard goesOn else { break }
            chosen = next
        }
        return chosen
    }

    func confirm(
        _ question: String, unless isOver: () -> Bool
    ) throws(ScreenFailure) -> Bool {
        guard showsWindows else { return false }
        return try confirms(question, yes: "Allow", no: "Deny", isOver)
    }

    private func confirms(
        _ question: String, yes: String, no: String, _ isOver: () -> Bool
    ) throws(ScreenFailure) -> Bool {
        notice = nil
        var words = words(prompt: nil, echo: false)
        words.description += "\n\n" + question
        do throws(PinentryError) {
            return try withDialog(inOwnWindow: showsWindows) { dialog throws(PinentryError) in
                try dialog.confirm(words, yes: yes, no: no, unless: isOver)
            }
        } catch {
            switch error {
            case .cancelled: return false
            case .abandoned: throw .abandoned
            case .tooLong, .notShown: throw .lost
            }
        }
    }

    var server: DisplayServer? {
        display.server.map {
            DisplayServer(process: $0.process, user: $0.user, number: $0.number)
        }
    }

    func finish(succeeded: Bool) { forget() }

    private func forget() {
        (title, information, complaints, hasNews, notice) = ("", [], [], false, nil)
        window = nil
    }

    private func opened(inOwnWindow: Bool = false) throws(PinentryError) -> PinentryDialog {
        try PinentryDialog.open(display, over: window?.number, inOwnWindow: inOwnWindow)
    }

    private func dialog(
        _ words: PinentryDialog.Words, _ isOver: () -> Bool
    ) throws(PinentryError) -> HeldSecret {
        try withDialog { dialog throws(PinentryError) in
            HeldSecret(try dialog.ask(words, unless: isOver))
        }
    }

    /// Lends the terminal to a dialog that needs it.
    private func withDialog<R>(
        inOwnWindow: Bool = false, _ body: (PinentryDialog) throws(PinentryError) -> R
    ) throws(PinentryError) -> R {
        let dialog = try opened(inOwnWindow: inOwnWindow)
        guard dialog.usesTerminal else { return try body(dialog) }
        guard let terminal = try? Terminal(), terminal.isForeground else { throw .notShown }
        let lent: Result<R, PinentryError>
        do throws(TerminalError) {
            lent = try terminal.lend { () throws(PinentryError) in try body(dialog) }
        } catch { throw .notShown }
        return try lent.get()
    }

    private func words(prompt: String?, echo: Bool) -> PinentryDialog.Words {
        var lines = [Self.heading, title] + information
        var label = prompt ?? ""
        if let prompt, prompt.utf8.count > Self.longestPrompt || !Self.isPlain(prompt) {
            lines.append(prompt)
            label = "Answer:"
        }
        if echo { lines.append(Self.hiddenAnyway) }
        var error = complaints.isEmpty ? nil : complaints.joined(separator: " ")
        if let text = error, !Self.isPlain(text) {
            lines.append(text)
            error = nil
        }
        return PinentryDialog.Words(
            description: lines.joined(separator: "\n\n"), prompt: label, error: error)
    }

    /// Whether the text is one line without characters that a toolkit could parse as markup or a
    /// shortcut.
    private static func isPlain(_ text: String) -> Bool {
        !text.contains { $0 == "<" || $0 == "&" || $0 == "_" || $0.isNewline }
    }
}

extension TrustChoice {
    fileprivate var words: String {
        switch self {
        case .deny: "Deny"
        case .once: "Only now"
        case .session: "Until logout"
        case .always: "Always"
        case .everything: "All of it"
        }
    }
}
