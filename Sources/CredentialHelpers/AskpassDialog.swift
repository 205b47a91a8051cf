// SPDX-License-Identifier: Apache-2.0
internal import KeychainSecrets
internal import Pinentry
internal import SecretJSON
internal import Terminal

/// Asks for an askpass program: on its terminal, or in a window of a pinentry.
struct AskpassDialog {
    private enum Place {
        case terminal(Terminal)
        case window(PinentryDialog)
    }

    private let place: Place

    init() throws(HelperFailure) {
        if let terminal = try? Terminal(), terminal.isForeground {
            place = .terminal(terminal)
            return
        }
        do throws(PinentryError) {
            place = .window(try PinentryDialog.open(DisplayEnvironment()))
        } catch {
            throw .unanswered("there is no terminal and no window to ask in")
        }
    }

    /// With `isShown` the answer may be visible while it is typed.
    func answer(to prompt: String, isShown: Bool) throws(HelperFailure) -> HeldSecret {
        switch place {
        case .terminal(let terminal):
            do throws(TerminalError) {
                return HeldSecret(try terminal.ask(prompt, echo: isShown))
            } catch { throw HelperFailure(error) }
        case .window(let window):
            do throws(PinentryError) {
                return HeldSecret(try window.ask(words(prompt), unless: { false }))
            } catch { throw Self.failure(error) }
        }
    }

    func confirms(_ question: String) throws(HelperFailure) -> Bool {
        switch place {
        case .terminal(let terminal):
            do throws(TerminalError) {
                let answer = HeldSecret(try terminal.ask("\(question) [y/N] ", echo: true))
                return answer.hasPrefix("y") || answer.hasPrefix("Y")
            } catch { throw HelperFailure(error) }
        case .window(let window):
            do throws(PinentryError) {
                return try window.confirm(
                    words(question), yes: "Yes", no: "No", unless: { false })
            } catch { throw Self.failure(error) }
        }
    }

    private func words(_ text: String) -> PinentryDialog.Words {
        PinentryDialog.Words(description: text, prompt: "Answer:", error: nil)
    }

    private static func failure(_ error: PinentryError) -> HelperFailure {
        .unanswered(
            error == .tooLong ? "the answer is too long" : "the question was not answered")
    }
}
