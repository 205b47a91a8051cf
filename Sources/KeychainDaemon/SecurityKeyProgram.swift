// SPDX-License-Identifier: Apache-2.0
internal import KeychainVaults
internal import KeychainModel
internal import KeychainSecrets
internal import ProgramHandoff

/// The connected security keys, through `keychain-fido`.
struct SecurityKeyProgram: SecurityKeySource {
    /// A security key itself waits as long for two touches, in seconds.
    private static let deadlineSeconds = 60.0
    /// In seconds. The user is not prompted to touch the key, and the desktop waits for the unlock.
    private static let deadlineSecondsAtLogin = 15.0
    private static let secretBytes = 32

    private let program: ProtectorProgram

    init(starter: any ProgramStarter) { program = ProtectorProgram(starter: starter) }

    /// Makes a new secret in the security key. Returns it with the credential that asks for it
    /// again, whose first byte is 1 where the key will want its PIN.
    func make(
        pin: HeldSecret, for user: UInt32
    ) throws(RequestError) -> (credential: [UInt8], key: HeldSecret) {
        let made = try program.ask(
            .securityKey(.make, user: user), pin, deadlineSeconds: Self.deadlineSeconds)
        guard made.bytes.count > Self.secretBytes else { throw .failed(.protectorFailed) }
        let credential = made.bytes.part(Self.secretBytes..<made.bytes.count)
            .releasedFromLockedMemory()
        return (credential, Self.key(made.bytes.part(0..<Self.secretBytes)))
    }

    func open(
        _ credential: [UInt8], pin: HeldSecret?, atLogin: Bool, for user: UInt32
    ) throws(RequestError) -> HeldSecret {
        let length = [
            UInt8(truncatingIfNeeded: credential.count), UInt8(clamping: credential.count >> 8),
        ]
        var question = SecretBytes(copying: length + credential)
        if let pin { question = question.appending(pin.bytes) }
        let secret = try program.ask(
            .securityKey(.open, user: user), HeldSecret(question),
            deadlineSeconds: atLogin ? Self.deadlineSecondsAtLogin : Self.deadlineSeconds
        )
        guard secret.bytes.count == Self.secretBytes else { throw .failed(.protectorFailed) }
        return Self.key(secret.bytes)
    }

    /// The security key's secret is hashed, and never itself used as a key.
    private static func key(_ secret: borrowing SecretBytes) -> HeldSecret {
        HeldSecret(KeyedHash.secret(hashing: secret, Array("keychain fido2 1".utf8)))
    }
}
