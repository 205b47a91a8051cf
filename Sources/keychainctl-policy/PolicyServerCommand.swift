// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainLinuxSystem
internal import PolicyLanguageServer
internal import Terminal

struct PolicyServerCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lsp", abstract: "Serve an editor that shows policies.",
        discussion: """
            Speaks the Language Server Protocol 3.17 on standard input and output. docs/editors.md \
            of the sources says how editors start it.
            """)

    @Option(
        name: .customLong("policies"),
        help: ArgumentHelp(
            "A folder of policies that come before the edited ones; may be repeated.",
            valueName: "dir"))
    var folders: [String] = []

    /// Diagnoses wait for a pause, since further messages would soon make them wrong.
    private static let pauseMilliseconds: Int32 = 100

    func run() throws {
        var framer = MessageFramer()
        var server = PolicyLanguageServer(beneath: folders) { LocalTime.now.day }
        while let bytes = StandardInput.piece() {
            framer.add(bytes)
            while let piece = framer.next() {
                try send(server.answer(piece))
                if let code = server.exitCode { throw ExitCode(code) }
            }
            if server.hasChanges, !StandardInput.isReady(withinMilliseconds: Self.pauseMilliseconds)
            {
                try send(server.diagnose())
            }
        }
        // The editor has gone without a shutdown.
        throw ExitCode.failure
    }

    private func send(_ messages: [String]) throws {
        for message in messages {
            let header = "Content-Length: \(message.utf8.count)\r\n\r\n"
            guard StandardStream.output.write(header + message) else { throw ExitCode.failure }
        }
    }
}
