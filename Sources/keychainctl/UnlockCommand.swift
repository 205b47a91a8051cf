// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainMessages
internal import KeychainModel

struct UnlockCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlock", abstract: "Open a keychain with its password.")

    @Argument(help: "The keychain's name; the login keychain when left out.")
    var name: String?

    @OptionGroup var password: PasswordOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let keychain = Keychain(name: name, asJSON: output.json)
        let shown = name ?? KeychainName.login.description
        let question = "Password of the keychain “\(shown)”: "
        do throws(CommandFailure) {
            let typed = try SecretReading.passwords(
                [question], fromInput: password.passwordStdin)
            try keychain.ask(
                .unlock(keychain: name, password: typed[0]), to: "unlock the keychain “\(shown)”")
        } catch { throw keychain.failure(error) }
        if output.json { JSONOutput.write(DoneRecord()) }
    }
}
