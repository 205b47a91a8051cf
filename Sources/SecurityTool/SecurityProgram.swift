// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import KeychainLinuxSystem
internal import Terminal

/// `security`: the options before the command, and one command or many.
package struct SecurityProgram {
    private static let prompt = "security> "

    private let session: Session

    package init(_ session: Session) { self.session = session }

    /// Runs the command of the arguments, and exits.
    package static func run(asking endpoint: @escaping Session.Endpoint) -> Never {
        // The process has passwords in memory. On a kernel without such protection it goes on.
        try? ProcessHardening.apply()
        exit(
            SecurityProgram(Session(asking: endpoint)).run(Array(CommandLine.arguments.dropFirst()))
        )
    }

    /// The name by which `keychain-embedded` knows which program to be.
    package static let name = "security"

    /// Replaces this process by the program with an embedded service.
    package static func becomeEmbedded() -> Never {
        if let path = InstalledProgram.companion("keychain-embedded") {
            _ = ForegroundProgram.replaceThisProcess(
                with: path, as: name, arguments: Array(CommandLine.arguments.dropFirst()))
        }
        StandardStream.error.write("security: keychain-embedded can't be started\n")
        exit(1)
    }

    /// Returns the exit status.
    func run(_ arguments: [String]) -> Int32 {
        let global: Options
        do { global = try Options(arguments, letters: "hilp:qvR") } catch {
            session.output.complain("security: \(error.sentence)\n")
            session.output.write(Self.usage)
            return CommandFailure.usageExit
        }
        session.output.isQuiet = global.has("q")
        let isVerbose = global.has("v")
        if global.has("h") {
            session.output.write(Self.usage)
            return CommandFailure.usageExit
        }
        if global.has("i") || global.has("p") {
            return converse(global["p"] ?? Self.prompt, isVerbose: isVerbose)
        }
        guard !global.words.isEmpty else {
            session.output.write(Self.usage)
            return CommandFailure.usageExit
        }
        return perform(global.words, isVerbose: isVerbose) & 0xFF
    }

    private static let usage = """
        Usage: security [-h] [-i] [-l] [-p prompt] [-q] [-v] [command] [opt ...]
            -i    Run in interactive mode.
            -l    Accepted and without effect.
            -p    Set the prompt of the interactive mode, which it implies.
            -q    Say less.
            -v    Show each command before it runs.
        security help lists the commands; security help COMMAND shows the usage of one.

        """

    private func converse(_ prompt: String, isVerbose: Bool) -> Int32 {
        var last: Int32 = 0
        while true {
            if StandardInput.isTerminal { session.output.tell(prompt) }
            let line: String?
            do { line = try InputLines.next() } catch {
                session.output.complain("security: a line is too long\n")
                last = CommandFailure.usageExit
                continue
            }
            guard let line else { return last }
            guard let words = CommandLineWords.of(line) else {
                session.output.complain("security: a quote is not closed\n")
                last = CommandFailure.usageExit
                continue
            }
            guard let name = words.first else { continue }
            if name == "quit" || name == "exit" { return last }
            let result = perform(words, isVerbose: isVerbose)
            last = result & 0xFF
            if last == 255 { return 0 }
            if result != 0 { session.output.complain("\(name): returned \(result)\n") }
        }
    }

    /// Runs one command with its arguments, and returns its result: 0, a status, or an exit status.
    private func perform(_ words: [String], isVerbose: Bool) -> Int32 {
        let command = CommandTable.command(words[0])
        if isVerbose {
            // The secret words of an unknown command are unknown too.
            let shown =
                command.map { CommandLineWords.hiding(words, behind: $0.secretLetters) }
                ?? [words[0]] + words.dropFirst().prefix(1).map { _ in "…" }
            session.output.tell("security \(CommandLineWords.quoted(shown))\n")
        }
        guard let command else {
            session.output.complain("security: unknown command \"\(PlainText.line(words[0]))\"\n")
            return 1
        }
        do throws(CommandFailure) {
            try command.run(options(of: command, words.dropFirst()), session)
            guard session.output.isWhole else { throw .unwritten }
            return 0
        } catch {
            session.output.complain(error.text)
            // The front end shows the usage for exit status 2, whatever caused it.
            if error.exit == CommandFailure.usageExit { session.output.tell(command.usage) }
            return error.result
        }
    }

    private func options(
        of command: Command, _ words: ArraySlice<String>
    ) throws(CommandFailure) -> Options {
        guard let letters = command.letters else { return Options(words: words) }
        var words = words
        var first: [String] = []
        if command.takesWordFirst, let word = words.first, !word.hasPrefix("-") {
            first = [word]
            words = words.dropFirst()
        }
        do {
            var options = try Options(words, letters: letters)
            options.put(first)
            return options
        } catch { throw .badArguments(error.sentence) }
    }
}
