// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets
internal import Terminal

/// `unlock --security-key`, and what else concerns a key that is touched.
struct SecurityKeyUnlock {
    let keychain: Keychain
    let shown: String

    func run(fromInput: Bool) throws(CommandFailure) {
        let keys = try keychain.ask(
            ListProtectors(keychain: keychain.name), to: "list the protectors"
        ).filter { $0.kind == .securityKey }
        let pin = try Self.pin(isWanted: keys.contains(where: \.usesPIN), fromInput: fromInput)
        if !keys.isEmpty { Self.sayTouch() }
        try keychain.ask(
            UnlockWithProtector(keychain: keychain.name, .securityKey(pin), newPassword: nil),
            to: "unlock the keychain “\(shown)”")
    }

    /// Empty where none is wanted.
    static func pin(isWanted: Bool, fromInput: Bool) throws(CommandFailure) -> HeldSecret {
        guard isWanted else { return HeldSecret(SecretBytes(copying: [])) }
        return try SecretReading.passwords(["PIN of the security key: "], fromInput: fromInput)[0]
    }

    static func sayTouch(twice: Bool = false) {
        StandardStream.error.write(
            "Touch the security key when it blinks\(twice ? ", twice" : "").\n")
    }
}
