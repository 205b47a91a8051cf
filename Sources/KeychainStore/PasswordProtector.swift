// SPDX-License-Identifier: Apache-2.0
internal import Secrets

/// The master key wrapped by a password: Argon2id's cost and salt, then the wrap.
struct PasswordProtector {
    private static let versionByte: UInt8 = 1
    private static let headerBytes = 1 + 4 + 4 + PasswordParameters.saltBytes

    let parameters: PasswordParameters
    let wrappedMaster: [UInt8]

    init(
        _ keys: borrowing PasswordKeys, _ parameters: PasswordParameters,
        master: borrowing SealingKey, _ wrap: KeyWrap
    ) {
        self.parameters = parameters
        wrappedMaster = wrap.seal(master.bytes, for: .passwordProtector, under: keys.master)
    }

    /// A file may ask for any cost: what is absurd counts as damage, not as work to be done.
    init(_ bytes: [UInt8]) throws(KeychainStoreError) {
        guard bytes.count > Self.headerBytes, bytes[0] == Self.versionByte else { throw .damaged }
        do {
            parameters = try PasswordParameters(
                passes: UInt32(littleEndianBytes: bytes[1..<5]),
                memoryKiB: UInt32(littleEndianBytes: bytes[5..<9]),
                salt: Array(bytes[9..<Self.headerBytes]))
        } catch { throw .damaged }
        wrappedMaster = Array(bytes[Self.headerBytes...])
    }

    var bytes: [UInt8] {
        [Self.versionByte] + parameters.passes.littleEndianBytes
            + parameters.memoryKiB.littleEndianBytes + parameters.salt + wrappedMaster
    }

    func master(_ keys: borrowing PasswordKeys, _ wrap: KeyWrap) throws(KeychainStoreError)
        -> SealingKey
    {
        guard let master = wrap.open(wrappedMaster, for: .passwordProtector, under: keys.master)
        else { throw .wrongPassword }
        guard master.count == SealingKey.byteCount else { throw .damaged }
        return SealingKey(master)
    }
}

/// The two keys that a password gives: one wraps the master key, the other has its part in the
/// passcode-set class.
struct PasswordKeys: ~Copyable {
    let master: SealingKey
    private let passcode: SecretBytes

    init(
        _ password: borrowing SecretBytes, _ parameters: PasswordParameters
    ) throws(KeychainStoreError) {
        do {
            let both = try PasswordKey.derive(password, parameters)
            master = SealingKey(both.part(0..<32))
            passcode = both.part(32..<64)
        } catch { throw KeychainStoreError(error) }
    }

    /// Wraps akpu: needs the password and the secret that lies beside the file, never in it.
    borrowing func passcodeKey(with deviceSecret: borrowing SecretBytes) -> SealingKey {
        SealingKey(
            KeyedHash.secret(
                key: passcode, Array("keychain passcode 1".utf8), mixedWith: deviceSecret))
    }
}
