// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets
internal import Terminal

struct ProtectorAddCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "add", abstract: "Add something that opens a keychain.",
        discussion: """
            Asks for the keychain's password (or, with --recovery-key, for the recovery key), and \
            that you are there. A recovery key is shown once and confirmed by typing a part of it; \
            a FIDO2 key is touched twice. This machine's own key (device) is for the machine's \
            keychain alone, where it came from another machine, or its TPM is gone. With --password-stdin the first line is the password and, \
            with --pin, the second the PIN.
            """)

    enum Kind: String, ExpressibleByArgument, CaseIterable {
        case recoveryKey = "recovery-key"
        case tpm2
        case fido2
        case credential
        case device
    }

    @Argument(help: "recovery-key, tpm2, fido2, credential or device.")
    var kind: Kind

    @Option(help: "tpm2: opens only while these PCRs are as they are now, such as 7 or 7,14.")
    var pcrs: String?

    @Option(help: "credential: its name; systemd gives it to keychaind as keychain.NAME.")
    var name: String?

    @Flag(help: "fido2: the key wants its PIN each time, too.")
    var pin = false

    @Flag(help: "Opens the keychain at a login that carries no password.")
    var atLogin = false

    @Flag(help: "Give the recovery key instead of the keychain's password.")
    var recoveryKey = false

    @OptionGroup var password: PasswordOptions
    @OptionGroup var options: ProtectorOptions

    func validate() throws {
        guard (pcrs == nil) || kind == .tpm2 else {
            throw ValidationError("--pcrs is for tpm2.")
        }
        guard (name != nil) == (kind == .credential) else {
            throw ValidationError("credential needs --name, and nothing else takes it.")
        }
        guard !atLogin || kind != .recoveryKey else {
            throw ValidationError("A recovery key is typed: it can't open anything at a login.")
        }
        guard kind != .device || (shown == KeychainName.system.description && !atLogin) else {
            throw ValidationError("device is for the keychain “system”, which no login opens.")
        }
        guard !pin || (kind == .fido2 && !atLogin) else {
            throw ValidationError("--pin is for fido2, and it can't be typed at a login.")
        }
        guard registers != nil else {
            throw ValidationError("--pcrs takes numbers from 0 to 23 with commas between them.")
        }
    }

    func run() throws {
        let keychain = options.asked
        do throws(CommandFailure) {
            if kind == .device { try checkThatDeviceIsNew(keychain) }
            let (opener, pin) = try typed()
            let new = try chosen(pin)
            if kind == .fido2 { SecurityKeyUnlock.sayTouch(twice: true) }
            let added = try keychain.ask(
                AddProtector(keychain: options.keychain, new, opening: opener),
                to: "add the protector")
            if options.output.json {
                JSONOutput.write(ProtectorRecord(added))
            } else {
                StandardStream.output.write(ProtectorText.table([added]))
            }
        } catch { throw keychain.failure(error) }
    }

    private func checkThatDeviceIsNew(_ keychain: Keychain) throws(CommandFailure) {
        let known = try keychain.ask(
            ListProtectors(keychain: options.keychain), to: "add the protector")
        guard !known.contains(where: { $0.kind == .device }) else {
            throw CommandFailure(
                .exists, name: "duplicateProtector",
                "could not add the protector: this machine's own key is one already")
        }
    }

    private var shown: String { options.keychain ?? KeychainName.login.description }

    private var registers: [UInt8]? {
        guard let pcrs else { return [] }
        let words = pcrs.split(separator: ",", omittingEmptySubsequences: false)
        let numbers = words.compactMap { UInt8($0) }.filter { $0 < 24 }
        return numbers.count == words.count ? numbers : nil
    }

    /// What opens the keychain now, and the PIN; empty where none is wanted.
    private func typed() throws(CommandFailure) -> (KeychainOpener, pin: HeldSecret) {
        let none = HeldSecret(SecretBytes(copying: []))
        if shown == KeychainName.system.description, !recoveryKey {
            return (
                .unasked,
                try SecurityKeyUnlock.pin(isWanted: pin, fromInput: password.passwordStdin)
            )
        }
        guard !recoveryKey else {
            let piped = password.passwordStdin ? try SecretReading.pipedLines(atMost: 2) : []
            let key = try RecoveryKeyPaper.typed(for: shown, fromInput: piped.first)
            if let second = piped.dropFirst().first { return (.recoveryKey(key), second) }
            return (
                .recoveryKey(key), try SecurityKeyUnlock.pin(isWanted: pin, fromInput: false)
            )
        }
        let question = "Password of the keychain “\(shown)”: "
        let answers = try SecretReading.passwords(
            [question] + (pin ? ["PIN of the security key: "] : []),
            fromInput: password.passwordStdin)
        return (.password(answers[0]), pin ? answers[1] : none)
    }

    private func chosen(_ pin: HeldSecret) throws(CommandFailure) -> NewProtector {
        switch kind {
        case .recoveryKey: .recoveryKey(try RecoveryKeyPaper.new(for: shown))
        case .tpm2: .tpm(registers: registers ?? [], atLogin: atLogin)
        case .credential: .credential(name: name ?? "", atLogin: atLogin)
        case .fido2: .securityKey(pin: pin, atLogin: atLogin)
        case .device: .device
        }
    }
}
