// SPDX-License-Identifier: Apache-2.0
package import KeychainSecrets

/// What is asked about the things that open a keychain.
package struct ProtectorRequest: Sendable {
    package enum Verb: Sendable {
        case list
        /// Takes something that opens the keychain now: the new one wraps the same key.
        case add(NewProtector, opening: KeychainOpener)
        case remove(identifier: String)
        /// Whether it would open the keychain now. A password and a recovery key come with it.
        case test(identifier: String, secret: HeldSecret?)
        /// Opens the keychain, and gives it a new password where there is one.
        case open(KeychainOpener, newPassword: HeldSecret?)
    }

    /// nil is the login keychain.
    package let keychain: String?
    package let verb: Verb

    package init(_ keychain: String?, _ verb: Verb) {
        self.keychain = keychain
        self.verb = verb
    }
}

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
