// SPDX-License-Identifier: Apache-2.0
package import KeychainSecrets

/// A protector that is to be added.
package enum NewProtector: Sendable {
    /// This machine's own key, for the machine's keychain.
    case device
    /// Its text.
    case recoveryKey(HeldSecret)
    /// Opens only while these platform registers are as they are now.
    case tpm(registers: [UInt8], atLogin: Bool)
    case credential(name: String, atLogin: Bool)
    /// Its PIN; empty where a touch is to be enough.
    case securityKey(pin: HeldSecret, atLogin: Bool)
}

/// What a person opens a keychain with.
package enum KeychainOpener: Sendable {
    /// Nothing: the machine's keychain opens by itself.
    case unasked
    case password(HeldSecret)
    /// Its text.
    case recoveryKey(HeldSecret)
    /// Its PIN; empty where a touch is enough.
    case securityKey(HeldSecret)

    /// What was typed.
    package var secret: HeldSecret? {
        switch self {
        case .unasked: nil
        case .password(let secret), .recoveryKey(let secret), .securityKey(let secret): secret
        }
    }
}
