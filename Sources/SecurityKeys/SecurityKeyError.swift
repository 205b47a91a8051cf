// SPDX-License-Identifier: Apache-2.0
internal import CFIDO2

/// Why a security key did not do what it was asked.
package enum SecurityKeyError: Error, Equatable, Sendable {
    /// None is plugged in, or it is no FIDO2 key.
    case notThere
    /// It keeps no secrets (it lacks `hmac-secret`).
    case unsuitable
    /// The credential is another key's, or this one was reset.
    case otherKey
    /// It wants a PIN, has none, or got another.
    case wrongPIN
    /// After too many wrong ones: until it is plugged in again, or for good. A new credential is
    /// refused before.
    case pinBlocked
    case notTouched
    /// It answered with this code of its own.
    case refused(Int32)

    init(_ code: Int32) {
        switch code {
        case FIDO_ERR_NO_CREDENTIALS, FIDO_ERR_INVALID_CREDENTIAL: self = .otherKey
        case FIDO_ERR_PIN_INVALID, FIDO_ERR_PIN_REQUIRED, FIDO_ERR_PIN_NOT_SET,
            FIDO_ERR_PIN_AUTH_INVALID, FIDO_ERR_PIN_POLICY_VIOLATION:
            self = .wrongPIN
        case FIDO_ERR_PIN_BLOCKED, FIDO_ERR_PIN_AUTH_BLOCKED: self = .pinBlocked
        case FIDO_ERR_USER_ACTION_TIMEOUT, FIDO_ERR_ACTION_TIMEOUT, FIDO_ERR_OPERATION_DENIED,
            FIDO_ERR_TIMEOUT, FIDO_ERR_KEEPALIVE_CANCEL:
            self = .notTouched
        case FIDO_ERR_UNSUPPORTED_EXTENSION, FIDO_ERR_UNSUPPORTED_ALGORITHM: self = .unsuitable
        case FIDO_ERR_TX, FIDO_ERR_RX: self = .notThere
        default: self = .refused(code)
        }
    }
}
