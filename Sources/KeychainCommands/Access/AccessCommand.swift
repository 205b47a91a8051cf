// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser

struct AccessCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "access",
        abstract: "See and change which programs an item lets in.",
        discussion: """
            An item belongs to the program that made it. One that has a list also lets in the \
            programs in the list, which may read it, and its user is asked about any other that \
            names it exactly. An answer of “always” is an entry of the list.
            """,
        subcommands: [
            AccessShowCommand.self, AccessAddCommand.self, AccessRemoveCommand.self,
            AccessResetCommand.self,
        ])
}
