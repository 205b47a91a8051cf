// SPDX-License-Identifier: Apache-2.0
internal import KeychainSecrets
internal import Terminal

/// Questions for passwords: on the terminal without an echo; without a terminal, on standard error,
/// with the answer on standard input, as getpass(3) does it.
enum PasswordPrompt {
    private static let tries = 3

    static func ask(_ question: String) throws(CommandFailure) -> HeldSecret {
        do throws(TerminalError) {
            return HeldSecret(try Terminal().ask(question, echo: false))
        } catch {
            guard error == .noTerminal else { throw .noAnswer }
        }
        StandardStream.error.write(question)
        guard let line = InputLines.secret() else { throw .noAnswer }
        return HeldSecret(line)
    }

    /// The given password, else the answer.
    static func ask(
        _ question: String, unlessGiven given: String?
    ) throws(CommandFailure) -> HeldSecret {
        if let given { return self.given(given) }
        return try ask(question)
    }

    /// A new password, typed twice.
    static func new(_ question: String, _ again: String) throws(CommandFailure) -> HeldSecret {
        for _ in 0..<tries {
            let first = try ask(question)
            if try ask(again).bytes.matches(first.bytes) { return first }
            StandardStream.error.write("passwords don't match\n")
        }
        throw .said("", exit: 1)
    }

    /// A password of the command line, where other users of the machine may have seen it.
    static func given(_ text: String) -> HeldSecret {
        HeldSecret(SecretBytes(copying: Array(text.utf8)))
    }
}
