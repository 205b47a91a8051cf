// SPDX-License-Identifier: Apache-2.0
internal import KeychainVaults
internal import KeychainModel
internal import KeychainSecrets

/// The security keys that are plugged in, through `keychain-fido`.
struct SecurityKeyProgram: SecurityKeySource {
    /// For as long as a key itself waits for two touches.
    private static let deadlineSeconds = 60.0
    /// The user has not been told to touch it, and what is shown first waits for this.
    private static let deadlineSecondsAtLogin = 15.0
    private static let secretBytes = 32

    private let program: ProtectorProgram

    init(path: String) { program = ProtectorProgram(path: path) }

    /// A new secret that the key keeps, and what it is asked for again with: the first byte is 1
    /// where it will want the PIN.
    func make(pin: HeldSecret) throws(RequestError) -> (credential: [UInt8], key: HeldSecret) {
        let made = try program.ask(["make"], pin, deadlineSeconds: Self.deadlineSeconds)
        guard made.bytes.count > Self.secretBytes else { throw .failed(.protectorFailed) }
        let credential = made.bytes.part(Self.secretBytes..<made.bytes.count)
            .releasedFromLockedMemory()
        return (credential, Self.key(made.bytes.part(0..<Self.secretBytes)))
    }

    func open(
        _ credential: [UInt8], pin: HeldSecret?, atLogin: Bool
    ) throws(RequestError) -> HeldSecret {
        let length = [
            UInt8(truncatingIfNeeded: credential.count), UInt8(clamping: credential.count >> 8),
        ]
        var question = SecretBytes(copying: length + credential)
        if let pin { question = question.appending(pin.bytes) }
        let secret = try program.ask(
            ["open"], HeldSecret(question),
            deadlineSeconds: atLogin ? Self.deadlineSecondsAtLogin : Self.deadlineSeconds
        )
        guard secret.bytes.count == Self.secretBytes else { throw .failed(.protectorFailed) }
        return Self.key(secret.bytes)
    }

    /// What a key tells is never itself the key of anything.
    private static func key(_ secret: borrowing SecretBytes) -> HeldSecret {
        HeldSecret(KeyedHash.secret(hashing: secret, Array("keychain fido2 1".utf8)))
    }
}
