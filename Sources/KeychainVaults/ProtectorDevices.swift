// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
package import KeychainSecrets

/// A TPM that seals the keys of protectors.
package protocol TPMSealer: Sendable {
    /// - Parameter registers: platform configuration registers whose values the key is bound to.
    func seal(_ key: HeldSecret, registers: [UInt8]) throws(RequestError) -> [UInt8]
    func open(_ sealed: [UInt8]) throws(RequestError) -> HeldSecret
}

/// FIDO2 security keys that derive the keys of protectors.
package protocol SecurityKeySource: Sendable {
    /// Makes a new secret in the security key. Returns the credential that asks for it again, and
    /// the key.
    func make(pin: HeldSecret) throws(RequestError) -> (credential: [UInt8], key: HeldSecret)
    func open(_ credential: [UInt8], pin: HeldSecret?, atLogin: Bool) throws(RequestError)
        -> HeldSecret
}
