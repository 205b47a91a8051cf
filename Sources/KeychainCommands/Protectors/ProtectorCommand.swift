// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser

struct ProtectorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "protector", abstract: "See and change what opens a keychain.",
        subcommands: [
            ProtectorListCommand.self, ProtectorAddCommand.self, ProtectorRemoveCommand.self,
            ProtectorTestCommand.self,
        ])
}

/// Which keychain, for the commands whose argument is something else.
struct ProtectorOptions: ParsableArguments {
    @Option(help: "The keychain's name; the login keychain when left out.")
    var keychain: String?

    @OptionGroup var output: OutputOptions

    var asked: Keychain { Keychain(name: keychain, asJSON: output.json) }
}
