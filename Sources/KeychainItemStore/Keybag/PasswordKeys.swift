// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainModel
package import KeychainSecrets

/// The two keys derived from a password: one wraps the master key, the other is a part of the
/// passcode-set class's key.
///
/// They open nothing until a protector is made of them. The password can't be computed from them,
/// only guessed at the price of a derivation each.
package struct PasswordKeys: ~Copyable, Sendable {
    private static let versionByte: UInt8 = 1
    private static let parameterBytes = 1 + 4 + 4 + PasswordParameters.saltBytes

    let parameters: PasswordParameters
    /// The processor time of the derivation; zero for stored keys.
    let effort: Duration
    let master: SealingKey
    private let passcode: SecretBytes

    /// Waits for the owner's turn to derive.
    init(
        _ password: borrowing SecretBytes, _ parameters: PasswordParameters,
        for owner: KeychainOwner
    ) throws(KeychainStoreError) {
        do {
            var effort = Duration.zero
            let both = try UserTurns.derivations.take(for: owner.user) {
                () throws(SecretsError) in
                let begun = ThreadTime.now
                defer { effort = ThreadTime.now - begun }
                return try PasswordKey.derive(password, parameters)
            }
            self.init(both: both, parameters, effort: effort)
        } catch { throw KeychainStoreError(error) }
    }

    /// For a new password, with a new salt. Measuring the cost is a derivation as well.
    init(
        _ password: borrowing SecretBytes, _ cost: PasswordCostChoice, for owner: KeychainOwner
    ) throws(KeychainStoreError) {
        let parameters: PasswordParameters
        do {
            parameters = try UserTurns.derivations.take(for: owner.user) {
                () throws(SecretsError) in try cost.parameters()
            }
        } catch { throw KeychainStoreError(error) }
        try self.init(password, parameters, for: owner)
    }

    private init(
        both: borrowing SecretBytes, _ parameters: PasswordParameters, effort: Duration
    ) {
        self.parameters = parameters
        self.effort = effort
        master = SealingKey(both.part(0..<32))
        passcode = both.part(32..<64)
    }

    /// The key that wraps akpu. It needs the password, and the device secret that lies beside the
    /// file and never in it.
    borrowing func passcodeKey(with deviceSecret: borrowing SecretBytes) -> SealingKey {
        SealingKey(
            KeyedHash.secret(
                key: passcode, Array("keychain passcode 1".utf8), mixedWith: deviceSecret))
    }

    // MARK: As a protector

    /// A protector with the master key under the password's key and, where the device secret is
    /// known, akpu under both.
    borrowing func protector(
        _ state: ProtectorRecord.State, master: borrowing SealingKey,
        passcode: borrowing SealingKey, _ deviceSecret: HeldSecret?, _ wrap: KeyWrap
    ) -> ProtectorRecord {
        var record = ProtectorRecord(
            .password, state, parameters: Self.bytes(of: parameters))
        record.keep(master: master, under: self.master, wrap)
        if let deviceSecret {
            record.keep(passcode: passcode, under: passcodeKey(with: deviceSecret.bytes), wrap)
        }
        return record
    }

    /// A file may ask for any cost. A cost that no version of this software uses is refused before
    /// any work is done for it.
    static func parameters(
        _ bytes: some Collection<UInt8>
    ) throws(KeychainStoreError) -> PasswordParameters {
        let bytes = Array(bytes)
        var reader = ByteReader(bytes)
        do {
            guard bytes.count == parameterBytes, try reader.byte() == versionByte else {
                throw KeychainStoreError.damaged
            }
            let passes = try reader.number(UInt32.self)
            let memoryKiB = try reader.number(UInt32.self)
            guard passes <= PasswordParameters.passes.upperBound,
                memoryKiB <= PasswordParameters.memoryKiB.upperBound
            else { throw KeychainStoreError.derivationTooCostly }
            return try PasswordParameters(
                passes: passes, memoryKiB: memoryKiB,
                salt: Array(try reader.take(PasswordParameters.saltBytes)))
        } catch let error as KeychainStoreError { throw error } catch { throw .damaged }
    }

    /// Whether these are the keys of that protector's cost and salt.
    borrowing func belong(to protector: ProtectorRecord) -> Bool {
        protector.kind == .password && protector.parameters == Self.bytes(of: parameters)
    }

    private static func bytes(of parameters: PasswordParameters) -> [UInt8] {
        // Safe: concatenates bytes.
        [versionByte] + parameters.passes.littleEndianBytes
            // Safe: as above.
            + parameters.memoryKiB.littleEndianBytes + parameters.salt
    }

    // MARK: Stored for a while

    /// The cost and salt, then both keys.
    package borrowing func copy() -> SecretBytes {
        SecretBytes(copying: Self.bytes(of: parameters)).appending(master.bytes)
            .appending(passcode)
    }

    package init(copy: borrowing SecretBytes) throws(KeychainStoreError) {
        guard copy.count == Self.parameterBytes + PasswordKey.byteCount else { throw .damaged }
        let head = copy.part(0..<Self.parameterBytes).releasedFromLockedMemory()
        self.init(
            both: copy.part(Self.parameterBytes..<copy.count), try Self.parameters(head),
            effort: .zero)
    }
}
