// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets

struct CreateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Make a keychain.")

    @Argument(help: "The keychain's name.")
    var name: String

    @Flag(help: "Protect it by this machine's key alone, where the service allows that.")
    var noPassword = false

    @Flag(help: "Make no recovery key.")
    var noRecoveryKey = false

    @OptionGroup var password: PasswordOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if noPassword, password.passwordStdin {
            throw ValidationError("--no-password and --password-stdin exclude each other.")
        }
    }

    func run() throws {
        let keychain = Keychain(name: name, asJSON: output.json)
        // The user should not think up a password in vain.
        guard name != KeychainName.system.description else {
            throw keychain.failure(
                CommandFailure(
                    .invalid(.notImplemented), "create the keychain “\(name)”", keychain: name))
        }
        try checkFree(keychain)
        let password = try chosenPassword(keychain)
        let recoveryKey = password == nil ? nil : try newRecoveryKey(keychain)
        try keychain.ask(
            CreateKeychain(name: name, password: password, recoveryKey: recoveryKey),
            to: "create the keychain “\(name)”")
        if output.json { JSONOutput.write(DoneRecord()) }
    }

    /// Where a keychain of that name lies, or something of an earlier one does, the service refuses to
    /// make one: its user hears that before choosing a password and writing a recovery key down.
    private func checkFree(_ keychain: Keychain) throws(CommandFailure) {
        guard let known = try keychain.status().keychains.first(where: { $0.name == name })
        else { return }
        switch known.problem {
        case nil: throw refused(.state(.duplicateKeychain), keychain)
        case .failed(.keychainGone): throw refused(.failed(.keychainGone), keychain)
        default: return
        }
    }

    private func refused(_ error: RequestError, _ keychain: Keychain) -> CommandFailure {
        keychain.failure(
            CommandFailure(error, "create the keychain “\(name)”", keychain: name))
    }

    /// Only where a user is there to write it down.
    private func newRecoveryKey(_ keychain: Keychain) throws(CommandFailure) -> HeldSecret? {
        if noRecoveryKey || password.passwordStdin { return nil }
        do throws(CommandFailure) { return try RecoveryKeyPaper.new(for: name) } catch {
            throw keychain.failure(error)
        }
    }

    private func chosenPassword(_ keychain: Keychain) throws(CommandFailure) -> HeldSecret? {
        if noPassword { return nil }
        do throws(CommandFailure) {
            return try SecretReading.newPassword(
                for: name, after: nil, fromInput: password.passwordStdin
            ).new
        } catch { throw keychain.failure(error) }
    }
}
