// SPDX-License-Identifier: Apache-2.0
package import KeyringStore
internal import KeychainModel
internal import KeychainSecrets

/// Users whose login keychain has, or may have, another password than their login, and whether they
/// were told. It is known until the next boot; then a login finds out again.
package struct PasswordMismatch: Sendable {
    private static let toBeTold: UInt8 = 0
    private static let told: UInt8 = 1
    private static let name = "out-of-step:\(KeychainName.login)"

    private let records: SealedRecords

    package init(records: SealedRecords) { self.records = records }

    /// Notes a mismatch. A user who was told is not told again.
    package func note(_ user: UInt32) {
        guard records.readPlain(Self.name, of: user) == nil else { return }
        write(Self.toBeTold, user)
    }

    /// Returns true the first time after `note(_:)`, then false.
    package func tell(_ user: UInt32) -> Bool {
        guard let state = records.readPlain(Self.name, of: user),
            state.matches(SecretBytes(copying: [Self.toBeTold]))
        else { return false }
        write(Self.told, user)
        return true
    }

    /// Ends the mismatch, as a login's password has opened the keychain.
    package func end(_ user: UInt32) { records.remove(Self.name, of: user) }

    private func write(_ state: UInt8, _ user: UInt32) {
        try? records.writePlain(Self.name, SecretBytes(copying: [state]), of: user)
    }
}
