// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets
internal import Terminal

struct ProtectorTestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "See whether something would open a keychain now.",
        discussion: "Nothing is opened. Asks for a password or a recovery key where that is meant.")

    @Argument(help: "The protector's identifier, as keychainctl protector list shows it.")
    var identifier: String

    @OptionGroup var password: PasswordOptions
    @OptionGroup var options: ProtectorOptions

    func run() throws {
        let keychain = options.asked
        do throws(CommandFailure) {
            let verb = TestProtector(
                keychain: options.keychain, identifier: identifier, secret: try typed(keychain))
            try keychain.ask(verb, to: "test the protector “\(identifier)”")
        } catch { throw keychain.failure(error) }
        if options.output.json {
            JSONOutput.write(DoneRecord())
        } else {
            StandardStream.output.write("It opens the keychain.\n")
        }
    }

    private func typed(_ keychain: Keychain) throws(CommandFailure) -> HeldSecret? {
        let listed = try keychain.ask(
            ListProtectors(keychain: options.keychain), to: "list the protectors")
        let name = options.keychain ?? KeychainName.login.description
        let protector = listed.first { $0.identifier == identifier }
        switch protector?.kind {
        case .password:
            return try SecretReading.passwords(
                ["Password of the keychain “\(name)”: "], fromInput: password.passwordStdin)[0]
        case .recoveryKey:
            let piped =
                password.passwordStdin
                ? try SecretReading.passwords([""], fromInput: true)[0] : nil
            return try RecoveryKeyPaper.typed(for: name, fromInput: piped)
        case .securityKey:
            let pin = try SecurityKeyUnlock.pin(
                isWanted: protector?.usesPIN ?? false, fromInput: password.passwordStdin)
            SecurityKeyUnlock.sayTouch()
            return pin
        default: return nil
        }
    }
}
