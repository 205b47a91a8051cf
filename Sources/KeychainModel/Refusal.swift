// SPDX-License-Identifier: Apache-2.0

/// Why a client may not have what it asked for. The numbers are those of `RequestError`.
public enum Refusal: UInt32, Sendable, CaseIterable {
    /// The caller has no access group, or not the one it named.
    case notEntitled = 20
    case authenticationFailed = 21
    case cancelled = 22
    /// The question could not be asked: no user there, or not allowed to ask.
    case interactionNotAllowed = 23
    case tooManyRequests = 25
    case wrongPassword = 27
    /// A rule of the administrator's policy does not allow it.
    case forbidden = 29
    /// Of an item that was made with another application password.
    case wrongApplicationPassword = 35
    case belongsToAnother = 48
    case wrongRecoveryKey = 52
    /// The security key wants a PIN, or got another.
    case wrongPIN = 57
}
