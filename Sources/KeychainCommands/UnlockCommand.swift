// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainMessages
internal import KeychainModel

struct UnlockCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlock", abstract: "Open a keychain with its password.",
        discussion: """
            With --recovery-key it is opened with its recovery key, and asked for the password that \
            it is to have from now on. With --password-stdin the first line is then the recovery \
            key and the second, if there is one, the new password. With --security-key it is opened \
            with a FIDO2 key that was added to it, which is touched, and with its PIN where it wants \
            one.
            """)

    @Argument(help: "The keychain's name; the login keychain when left out.")
    var name: String?

    @Flag(help: "Open it with its recovery key instead.")
    var recoveryKey = false

    @Flag(help: "Open it with a security key instead.")
    var securityKey = false

    @OptionGroup var password: PasswordOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard !recoveryKey || !securityKey else {
            throw ValidationError("--recovery-key and --security-key exclude each other.")
        }
    }

    func run() throws {
        let keychain = Keychain(name: name, asJSON: output.json)
        let shown = name ?? KeychainName.login.description
        let question = "Password of the keychain “\(shown)”: "
        do throws(CommandFailure) {
            if recoveryKey || securityKey {
                let fromInput = password.passwordStdin
                if recoveryKey {
                    try RecoveryUnlock(keychain: keychain, shown: shown).run(fromInput: fromInput)
                } else {
                    try SecurityKeyUnlock(keychain: keychain, shown: shown).run(
                        fromInput: fromInput)
                }
                if output.json { JSONOutput.write(DoneRecord()) }
                return
            }
            let wasOutOfStep = try status(keychain)?.lockReason == .passwordDiffers
            let typed = try SecretReading.passwords(
                [question], fromInput: password.passwordStdin)
            try keychain.ask(
                Unlock(keychain: name, password: typed[0]), to: "unlock the keychain “\(shown)”")
            if wasOutOfStep, !output.json { try sayWhatComesNext(keychain) }
        } catch { throw keychain.failure(error) }
        if output.json { JSONOutput.write(DoneRecord()) }
    }

    private func sayWhatComesNext(_ keychain: Keychain) throws(CommandFailure) {
        let isMended = try status(keychain)?.hasPendingPassword == true
        print(
            isMended
                ? "Your next login opens it again with its own password."
                : "keychainctl set-password gives it the password of your login.")
    }

    private func status(_ keychain: Keychain) throws(CommandFailure) -> KeychainStatus? {
        let shown = name ?? KeychainName.login.description
        return try keychain.status().keychains.first { $0.name == shown }
    }
}
