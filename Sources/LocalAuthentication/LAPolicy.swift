// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// What an evaluation asks for.
public enum LAPolicy: Int, Sendable {
    /// A match of what the user has enrolled (PAM service `keychain-biometry`).
    case deviceOwnerAuthenticationWithBiometrics = 1
    /// Whatever the machine's PAM service `keychain-presence` accepts.
    case deviceOwnerAuthentication = 2
    /// A second device (PAM service `keychain-companion`).
    case deviceOwnerAuthenticationWithCompanion = 3
    case deviceOwnerAuthenticationWithBiometricsOrCompanion = 4

    public static let deviceOwnerAuthenticationWithWatch = deviceOwnerAuthenticationWithCompanion
    public static let deviceOwnerAuthenticationWithBiometricsOrWatch =
        deviceOwnerAuthenticationWithBiometricsOrCompanion
}

/// What an item or a key will be used for, when its access control is evaluated.
public enum LAAccessControlOperation: Int, Sendable {
    case createItem = 0
    case useItem = 1
    case createKey = 2
    case useKeySign = 3
    case useKeyDecrypt = 4
    case useKeyKeyExchange = 5
}

/// What `setCredential` takes.
public enum LACredentialType: Int, Sendable {
    case applicationPassword = 0
    /// Known, and supported nowhere here.
    case smartCardPIN = -3
}

/// The kind of reader a machine has; all that fprintd knows read fingers.
public enum LABiometryType: Int, Sendable {
    case none = 0
    case touchID = 1
    case faceID = 2
    case opticID = 4

    public static let LABiometryNone = none
}

/// Seconds: the longest that `touchIDAuthenticationAllowableReuseDuration` may be.
public let LATouchIDAuthenticationMaximumAllowableReuseDuration: TimeInterval = 300
