// SPDX-License-Identifier: Apache-2.0
internal import Pinentry
internal import Terminal

/// Selects the screen of a prompter that its user started.
enum ScreenChoice {
    enum Failure: Error {
        case noTerminal
        case noPinentry

        var meaning: String {
            switch self {
            case .noTerminal: "there is no terminal to show questions on"
            case .noPinentry:
                """
                no pinentry can show questions here; install pinentry-qt or pinentry-gtk2, and \
                start this where DISPLAY says where the desktop is
                """
            }
        }
    }

    static func screen(
        at place: Invocation.Place, _ display: DisplayEnvironment
    ) throws(Failure) -> any QuestionScreen {
        switch place {
        case .desktop:
            guard (try? PinentryDialog.open(display)) != nil else { throw .noPinentry }
            return DesktopScreen(display)
        case .either where PinentryDialog.hasDesktop(display): return DesktopScreen(display)
        case .terminal, .either:
            guard let screen = try? TerminalScreen(.user) else { throw .noTerminal }
            return screen
        }
    }
}
