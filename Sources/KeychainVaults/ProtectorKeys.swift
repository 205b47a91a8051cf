// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
package import KeychainItemStore
package import KeychainSecrets

/// The sources of protectors' keys: paper, the TPM, a security key, systemd.
package struct ProtectorKeys: Sendable {
    private static let registerBytes = 3
    /// Bytes of a credential's name.
    private static let longestName = 64
    /// A shorter credential could be guessed like a password, without Argon2id to slow the guesses.
    private static let shortestCredential = 32

    /// nil outside the daemon: programs can't use the machine's TPM.
    package let tpm: (any TPMSealer)?
    package let securityKeys: (any SecurityKeySource)?
    /// By name, as they were when the service started.
    package let credentials: [String: HeldSecret]

    package init(
        tpm: (any TPMSealer)?, securityKeys: (any SecurityKeySource)?,
        credentials: [String: HeldSecret]
    ) {
        self.tpm = tpm
        self.securityKeys = securityKeys
        self.credentials = credentials
    }

    package static let none = ProtectorKeys(tpm: nil, securityKeys: nil, credentials: [:])

    /// A new protector of this user's keychain, and the key for it.
    package func make(
        _ new: NewProtector, for user: UInt32
    ) throws(RequestError) -> (protector: ProtectorRecord, key: HeldSecret) {
        switch new {
        // The service has the device's key already.
        case .device: throw .invalid(.badRequest)
        case .recoveryKey(let text):
            return (
                try record(.recoveryKey, []), HeldSecret(try Self.recoveryKey(text).bytes.copy())
            )
        case .tpm(let registers, let atLogin):
            guard let tpm else { throw .state(.protectorNotAvailable) }
            let key = HeldSecret(SecretBytes(random: SealingKey.byteCount))
            let sealed = try tpm.seal(key, registers: registers, for: user)
            return (try record(.tpm, [atLogin ? 1 : 0] + Self.bits(registers) + sealed), key)
        case .credential(let name, let atLogin):
            let key = HeldSecret(try credentialKey(name).bytes.copy())
            return (try record(.credential, [atLogin ? 1 : 0] + Array(name.utf8)), key)
        case .securityKey(let pin, let atLogin):
            // A PIN can't be typed at a login without a password.
            guard pin.bytes.count == 0 || !atLogin else { throw .invalid(.badRequest) }
            guard let securityKeys else { throw .state(.protectorNotAvailable) }
            let (credential, key) = try securityKeys.make(pin: pin, for: user)
            return (try record(.securityKey, [atLogin ? 1 : 0] + credential), key)
        }
    }

    private func record(
        _ kind: ProtectorRecord.Kind, _ parameters: [UInt8]
    ) throws(RequestError) -> ProtectorRecord {
        do { return try .new(kind, parameters: parameters) } catch { throw RequestError(error) }
    }

    /// The key of an existing protector. `typed` is the recovery key, or the PIN of a security key.
    package func key(
        of protector: ProtectorRecord, for user: UInt32, typed: HeldSecret?, atLogin: Bool = false
    ) throws(RequestError) -> SealingKey {
        switch protector.kind {
        case .recoveryKey:
            guard let typed else { throw .invalid(.badRequest) }
            return try Self.recoveryKey(typed)
        case .tpm:
            guard let tpm else { throw .state(.protectorNotAvailable) }
            let key = try tpm.open(
                Array(protector.parameters.dropFirst(1 + Self.registerBytes)), for: user)
            guard key.bytes.count == SealingKey.byteCount else { throw .failed(.damaged) }
            return SealingKey(key.bytes.copy())
        case .credential: return try credentialKey(protector.credentialName)
        case .securityKey:
            guard let securityKeys else { throw .state(.protectorNotAvailable) }
            let credential = Array(protector.parameters.dropFirst())
            let key = try securityKeys.open(
                credential, pin: typed, atLogin: atLogin, for: user)
            return SealingKey(key.bytes.copy())
        case .password, .device: throw .invalid(.badRequest)
        }
    }

    /// The protector as users see it.
    package static func shown(_ protector: ProtectorRecord) -> Protector {
        var shown = Protector(
            identifier: protector.shownIdentifier, kind: protector.kind.shown,
            opensAtLogin: protector.opensAtLogin, made: protector.made)
        if protector.kind == .tpm {
            let bits = Array(protector.parameters.dropFirst().prefix(registerBytes))
            for register in 0..<UInt8(8 * bits.count) {
                let bit: UInt8 = 1 << (register % 8)
                // Safe: there are eight registers to each of the bytes.
                if bits[Int(register / 8)] & bit != 0 { shown.registers.append(register) }
            }
        }
        if protector.kind == .credential { shown.credential = protector.credentialName }
        if protector.kind == .securityKey {
            shown.usesPIN = protector.parameters.dropFirst().first == 1
        }
        return shown
    }

    private static func recoveryKey(_ text: HeldSecret) throws(RequestError) -> SealingKey {
        do { return try RecoveryKey(typed: text.bytes).key() } catch {
            throw .refused(.wrongRecoveryKey)
        }
    }

    private func credentialKey(_ name: String) throws(RequestError) -> SealingKey {
        guard name.utf8.count <= Self.longestName, let secret = credentials[name],
            secret.bytes.count >= Self.shortestCredential
        else { throw .state(.protectorNotAvailable) }
        let purpose = Array("keychain credential 1".utf8)
        // Keyed hashes take at most 64 bytes of key: longer ones are hashed first.
        return SealingKey(KeyedHash.secret(hashing: secret.bytes, purpose))
    }

    private static func bits(_ registers: [UInt8]) -> [UInt8] {
        // Safe: messages with registers from 24 on are refused.
        registers.reduce(into: [0, 0, 0]) { $0[Int($1 / 8)] |= 1 << ($1 % 8) }
    }
}

extension ProtectorRecord {
    /// For the kinds that need no typing, the first byte of the parameters says whether the
    /// protector opens at login.
    package var opensAtLogin: Bool {
        (kind == .tpm || kind == .credential || kind == .securityKey) && parameters.first == 1
    }

    fileprivate var credentialName: String {
        String(decoding: parameters.dropFirst(), as: UTF8.self)
    }
}

extension ProtectorRecord.Kind {
    fileprivate var shown: Protector.Kind {
        switch self {
        case .password: .password
        case .device: .device
        case .recoveryKey: .recoveryKey
        case .tpm: .tpm
        case .credential: .credential
        case .securityKey: .securityKey
        }
    }
}
