// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
package import KeychainSecrets

/// A TPM that seals the keys of protectors.
package protocol TPMSealer: Sendable {
    /// - Parameters:
    ///   - registers: platform configuration registers whose values the key is bound to.
    ///   - user: whose keychain the key is for.
    func seal(
        _ key: HeldSecret, registers: [UInt8], for user: UInt32
    ) throws(RequestError) -> [UInt8]
    func open(_ sealed: [UInt8], for user: UInt32) throws(RequestError) -> HeldSecret
}

/// FIDO2 security keys that derive the keys of protectors.
package protocol SecurityKeySource: Sendable {
    /// Makes a new secret in the security key. Returns the credential that asks for it again, and
    /// the key.
    func make(
        pin: HeldSecret, for user: UInt32
    ) throws(RequestError) -> (credential: [UInt8], key: HeldSecret)
    func open(
        _ credential: [UInt8], pin: HeldSecret?, atLogin: Bool, for user: UInt32
    ) throws(RequestError) -> HeldSecret
}
