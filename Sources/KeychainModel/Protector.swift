// SPDX-License-Identifier: Apache-2.0

/// A protector as users see it.
public struct Protector: Sendable, Equatable {
    public enum Kind: UInt8, Sendable, CaseIterable {
        case password = 1
        /// This machine's own key.
        case device = 2
        /// Printed, and typed when nothing else opens it.
        case recoveryKey = 3
        case tpm = 4
        /// A secret that systemd gave the service when it was started.
        case credential = 5
        /// A FIDO2 key that is touched.
        case securityKey = 6
    }

    /// The name by which it is removed or tested: eight hexadecimal digits.
    public var identifier: String
    public var kind: Kind
    /// Whether it opens the keychain at a login without a password.
    public var opensAtLogin: Bool
    /// Seconds since 1970; 0 where unknown.
    public var made: Int64
    /// The platform registers whose values the TPM checks.
    public var registers: [UInt8]
    /// The name of a credential.
    public var credential: String?
    /// Whether the security key also needs its PIN.
    public var usesPIN = false

    public init(
        identifier: String, kind: Kind, opensAtLogin: Bool = false, made: Int64 = 0,
        registers: [UInt8] = [], credential: String? = nil
    ) {
        self.identifier = identifier
        self.kind = kind
        self.opensAtLogin = opensAtLogin
        self.made = made
        self.registers = registers
        self.credential = credential
    }
}
