// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets

struct SetPasswordCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set-password",
        abstract: "Protect a keychain by a password, or change the password.",
        discussion: """
            With --password-stdin the first line is the current password, where the keychain has \
            one, and the next the new one.
            """)

    @Argument(help: "The keychain's name; the login keychain when left out.")
    var name: String?

    @OptionGroup var password: PasswordOptions
    @OptionGroup var output: OutputOptions

    private var shown: String { name ?? KeychainName.login.description }

    func run() throws {
        let keychain = Keychain(name: name, asJSON: output.json)
        do throws(CommandFailure) {
            let (current, new) = try SecretReading.newPassword(
                for: shown, after: try currentQuestion(keychain),
                fromInput: password.passwordStdin)
            try keychain.ask(
                SetPassword(keychain: name, old: current, new: new),
                to: "set the password of the keychain “\(shown)”")
        } catch { throw keychain.failure(error) }
        if output.json { JSONOutput.write(DoneRecord()) }
    }

    /// nil where there is no password yet.
    private func currentQuestion(_ keychain: Keychain) throws(CommandFailure) -> String? {
        let status = try keychain.status().keychains.first { $0.name == shown }
        return status?.isPasswordProtected == true
            ? "Current password of the keychain “\(shown)”: " : nil
    }
}
