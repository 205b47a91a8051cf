// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainDaemonClient
internal import KeychainLinuxSystem
internal import Terminal

struct PrompterCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prompter",
        abstract: "Answer the questions of this terminal's programs.",
        discussion: """
            In a window where there is a display, else on this terminal. Runs until it is \
            interrupted. The desktop's programs are answered for by keychain-prompter.service.
            """)

    /// Counted from the folder of this program.
    private static let program = "../libexec/keychain/keychain-prompter"

    enum Place: String, EnumerableFlag { case desktop, terminal }

    @Flag(help: "Ask there, or not at all.")
    var place: Place?
    @OptionGroup var output: OutputOptions

    func run() throws {
        let keychain = Keychain(name: nil, asJSON: output.json)
        guard let socket = DaemonSocket.ofThisProcess else {
            throw keychain.failure(
                CommandFailure(
                    .failure, name: "embedded",
                    "there is no keychain service here that a prompter could register with",
                    advice: "Without one, each program asks on its own terminal."))
        }
        guard let path = InstalledProgram.sibling(Self.program) else {
            throw keychain.failure(missing(Self.program))
        }
        let placed = place.map { ["--" + $0.rawValue] } ?? []
        _ = ForegroundProgram.replaceThisProcess(
            with: path, arguments: placed + ["--socket", socket])
        throw keychain.failure(missing(path))
    }

    private func missing(_ path: String) -> CommandFailure {
        CommandFailure(
            .failure, name: "prompterMissing", "the prompter can't be started: \(path)",
            advice: "It is installed together with keychainctl.")
    }
}
