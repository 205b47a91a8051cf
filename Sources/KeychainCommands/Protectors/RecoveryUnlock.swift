// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets
internal import Terminal

/// `unlock --recovery-key`: who needs it has lost the password, or changed the login's without the
/// keychain's.
struct RecoveryUnlock {
    let keychain: Keychain
    let shown: String

    func run(fromInput: Bool) throws(CommandFailure) {
        let piped = fromInput ? try SecretReading.pipedLines(atMost: 2) : []
        let key = try RecoveryKeyPaper.typed(for: shown, fromInput: piped.first)
        // First of all that it opens: the user should not think up a password in vain.
        try open(key, nil)
        let new = fromInput ? piped.dropFirst().first : try newPassword()
        if let new {
            try SecretReading.checkNotEmpty(new)
            try open(key, new)
        }
    }

    private func open(_ key: HeldSecret, _ password: HeldSecret?) throws(CommandFailure) {
        let verb = UnlockWithProtector(
            keychain: keychain.name, .recoveryKey(key), newPassword: password)
        try keychain.ask(
            verb,
            to: password == nil
                ? "unlock the keychain “\(shown)”" : "set the password of the keychain “\(shown)”")
    }

    /// nil where the present one stays.
    private func newPassword() throws(CommandFailure) -> HeldSecret? {
        do throws(TerminalError) {
            try Terminal().say(
                """
                It is open. Type the password that is to open it from now on, for the login \
                keychain the one that you log in with; or nothing, and its password stays.
                """)
        } catch { throw CommandFailure(error) }
        let new = try SecretReading.typed("New password of the keychain “\(shown)”: ")
        guard new.bytes.count > 0 else { return nil }
        guard try SecretReading.typed("The same again: ").bytes.matches(new.bytes) else {
            throw CommandFailure(
                .failure, name: "passwordsDiffer",
                "the two new passwords are not the same; the password stays as it was")
        }
        return new
    }
}
