// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainEndpoints
internal import Terminal

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show how the keychains and their service stand.")

    @OptionGroup var output: OutputOptions

    func run() throws {
        let status = try Keychain(name: nil, asJSON: output.json).status()
        let socket = KeychainEndpointChoice.daemonSocket
        if output.json {
            JSONOutput.write(StatusRecord(status, socket: socket))
        } else {
            StandardStream.output.write(StatusText(status, socket: socket).text)
        }
    }
}
