// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainCommands
internal import KeychainMessages
internal import Terminal

struct PolicyReloadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Have the keychain service read the system's policies again (as root).")

    func run() throws {
        let keychain = Keychain(name: nil, asJSON: false)
        let report = try keychain.ask(Policies(.reload), to: "reload the policies")
        StandardStream.output.write(PlainText.escaped(report) + "\n")
    }
}
