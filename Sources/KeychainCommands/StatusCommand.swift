// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainDaemonClient
internal import Terminal

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show how the keychains and their service stand.")

    @OptionGroup var output: OutputOptions

    func run() throws {
        let status = try Keychain(name: nil, asJSON: output.json).status()
        let socket = DaemonSocket.ofThisProcess
        if output.json {
            JSONOutput.write(StatusRecord(status, socket: socket))
        } else {
            StandardStream.output.write(StatusText(status, socket: socket).text)
        }
    }
}
