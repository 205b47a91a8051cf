// SPDX-License-Identifier: Apache-2.0
package import KeychainSecrets

/// A protector to be added.
package enum NewProtector: Sendable {
    /// This machine's own key, for the machine's keychain.
    case device
    /// The key's text.
    case recoveryKey(HeldSecret)
    /// Opens only while these platform registers have their present values.
    case tpm(registers: [UInt8], atLogin: Bool)
    case credential(name: String, atLogin: Bool)
    /// The security key's PIN; empty where a touch is enough.
    case securityKey(pin: HeldSecret, atLogin: Bool)
}

/// The means by which a person opens a keychain.
package enum KeychainOpener: Sendable {
    /// Nothing is asked: the machine's keychain opens by itself.
    case unasked
    case password(HeldSecret)
    /// The key's text.
    case recoveryKey(HeldSecret)
    /// The security key's PIN; empty where a touch is enough.
    case securityKey(HeldSecret)

    /// The typed secret.
    package var secret: HeldSecret? {
        switch self {
        case .unasked: nil
        case .password(let secret), .recoveryKey(let secret), .securityKey(let secret): secret
        }
    }
}
