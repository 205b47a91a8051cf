// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// The proofs that an evaluation asks for.
public enum LAPolicy: Int, Sendable {
    /// A match with the user's enrolled biometry (PAM service `keychain-biometry`).
    case deviceOwnerAuthenticationWithBiometrics = 1
    /// Any proof that the machine's PAM service `keychain-presence` accepts.
    case deviceOwnerAuthentication = 2
    /// A second device (PAM service `keychain-companion`).
    case deviceOwnerAuthenticationWithCompanion = 3
    case deviceOwnerAuthenticationWithBiometricsOrCompanion = 4

    public static let deviceOwnerAuthenticationWithWatch = deviceOwnerAuthenticationWithCompanion
    public static let deviceOwnerAuthenticationWithBiometricsOrWatch =
        deviceOwnerAuthenticationWithBiometricsOrCompanion
}

/// The use of an item or a key for which its access control is evaluated.
public enum LAAccessControlOperation: Int, Sendable {
    case createItem = 0
    case useItem = 1
    case createKey = 2
    case useKeySign = 3
    case useKeyDecrypt = 4
    case useKeyKeyExchange = 5
}

/// The types for `setCredential`.
public enum LACredentialType: Int, Sendable {
    case applicationPassword = 0
    /// Defined for compatibility, and not supported.
    case smartCardPIN = -3
}

/// The kind of biometric reader; fprintd only supports fingerprint readers.
public enum LABiometryType: Int, Sendable {
    case none = 0
    case touchID = 1
    case faceID = 2
    case opticID = 4

    public static let LABiometryNone = none
}

/// The longest `touchIDAuthenticationAllowableReuseDuration`, in seconds: 300.
public let LATouchIDAuthenticationMaximumAllowableReuseDuration: TimeInterval = 300
