// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainSecrets
package import Terminal

/// Reads passwords and secrets, which the screen must not show.
struct SecretReading {
    /// Lines of standard input: the current password and the new one.
    private static let mostPiped = 2 * (RequestLimits.longestPassword + 1)

    /// One password for each question: from standard input a line each, else asked for.
    static func passwords(
        _ questions: [String], fromInput: Bool
    ) throws(CommandFailure) -> [HeldSecret] {
        if fromInput { return try pipedPasswords(questions.count) }
        var answers: [HeldSecret] = []
        for question in questions { answers.append(try typed(question)) }
        return answers
    }

    /// A new password: asked for twice, or the last line that was piped in.
    static func newPassword(
        for keychain: String, after current: String?, fromInput: Bool
    ) throws(CommandFailure) -> (current: HeldSecret?, new: HeldSecret) {
        if fromInput {
            let piped = try pipedPasswords(current == nil ? 1 : 2)
            let new = piped[piped.count - 1]
            try checkNotEmpty(new)
            return (current == nil ? nil : piped[0], new)
        }
        let old = try current.map { question throws(CommandFailure) in try typed(question) }
        let new = try typed("New password of the keychain “\(keychain)”: ")
        try checkNotEmpty(new)
        guard try typed("The same again: ").bytes.matches(new.bytes) else {
            throw CommandFailure(
                .failure, name: "passwordsDiffer",
                "the two new passwords are not the same; nothing was changed")
        }
        return (old, new)
    }

    /// An item's secret, byte for byte from standard input, or a line from the terminal.
    static func itemSecret(alwaysFromInput: Bool = false) throws(CommandFailure) -> HeldSecret {
        guard alwaysFromInput || !StandardInput.isTerminal else { return try typed("Secret: ") }
        do {
            return HeldSecret(try StandardInput.read(limit: RequestLimits.largestSecret))
        } catch { throw CommandFailure(error) }
    }

    static func typed(_ question: String) throws(CommandFailure) -> HeldSecret {
        do throws(TerminalError) {
            return HeldSecret(try Terminal().ask(question, echo: false))
        } catch { throw CommandFailure(error) }
    }

    /// Between one line and `count`.
    static func pipedLines(atMost count: Int) throws(CommandFailure) -> [HeldSecret] {
        let lines = try pipedLines()
        guard (1...count).contains(lines.count) else { throw wrongCount(count, lines.count) }
        return lines
    }

    private static func pipedPasswords(_ count: Int) throws(CommandFailure) -> [HeldSecret] {
        let lines = try pipedLines()
        guard lines.count == count else { throw wrongCount(count, lines.count) }
        return lines
    }

    private static func pipedLines() throws(CommandFailure) -> [HeldSecret] {
        do { return try StandardInput.read(limit: mostPiped).lines() } catch {
            throw CommandFailure(error)
        }
    }

    private static func wrongCount(_ expected: Int, _ found: Int) -> CommandFailure {
        CommandFailure(
            .usage, name: "passwordsMissing",
            "the lines of standard input should be \(expected) and are \(found)",
            advice: "One password a line, the current one first.")
    }

    static func checkNotEmpty(_ password: HeldSecret) throws(CommandFailure) {
        guard password.bytes.count == 0 else { return }
        throw CommandFailure(
            .usage, name: "passwordEmpty", "a keychain's password can't be empty")
    }
}

extension CommandFailure {
    package init(_ error: TerminalError) {
        self =
            switch error {
            case .noTerminal:
                CommandFailure(
                    .locked, name: "noTerminal", "there is no terminal to ask on",
                    advice: "Pipe it in: see --password-stdin and --secret-stdin.")
            case .cancelled, .abandoned, .hungUp:
                CommandFailure(.cancelled, name: "cancelled", "cancelled; nothing was changed")
            case .shared: CommandFailure(.cancelled, name: "cancelled", Terminal.isShared)
            case .tooLong:
                CommandFailure(
                    .failure, name: CommandFailure.dataTooLarge, "that is too long",
                    advice: "At the terminal 1023 bytes, passwords 1024, piped secrets 32 MiB.")
            case .system(let code):
                CommandFailure(
                    .failure, name: "inputOutput", "it could not be read (error \(code))")
            }
    }
}
