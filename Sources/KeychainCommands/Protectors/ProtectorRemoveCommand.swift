// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainMessages
internal import KeychainModel

struct ProtectorRemoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Remove something that opens a keychain.",
        discussion: """
            The last one that works is never removed. Asks that you are there. With the password go \
            the items that are accessible when a passcode is set, for ever; the keychain is locked then.
            """)

    @Argument(help: "The protector's identifier, as keychainctl protector list shows it.")
    var identifier: String

    @OptionGroup var options: ProtectorOptions

    func run() throws {
        let isPassword = try isPassword()
        if isPassword, try options.asked.status().mode == .embedded {
            throw options.asked.failure(
                CommandFailure(
                    .refused, name: "lastProtector", "a password is changed, and never removed",
                    advice: "keychainctl set-password changes it."))
        }
        try options.asked.ask(
            RemoveProtector(keychain: options.keychain, identifier: identifier),
            to: "remove the protector “\(identifier)”")
        if options.output.json { return JSONOutput.write(DoneRecord()) }
        guard isPassword else { return }
        let shown = options.keychain ?? KeychainName.login.description
        print(
            """
            The keychain “\(shown)” has no password any more, and is locked. keychainctl unlock \
            \(shown) --recovery-key opens it, and gives it another.
            """)
    }

    private func isPassword() throws(CommandFailure) -> Bool {
        try options.asked.ask(
            ListProtectors(keychain: options.keychain), to: "list the protectors"
        ).contains { $0.identifier == identifier && $0.kind == .password }
    }
}
