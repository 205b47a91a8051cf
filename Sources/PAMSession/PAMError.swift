// SPDX-License-Identifier: Apache-2.0
internal import CPAM

/// Why PAM did not authenticate. PAM's codes don't leave this module.
package enum PAMError: Error, Equatable, Sendable {
    case authenticationFailed
    /// The conversation was cancelled.
    case cancelled
    /// Authenticated, but the account may not be used: locked, expired.
    case accountRefused
    case serviceMissing
    case tooManyTries
    /// A module authenticated another user than the requested one.
    case userChanged
    /// A module asked more questions than allowed.
    case tooManyRounds
    case system(Int32)

    init(authentication code: Int32) {
        switch code {
        case PAM_AUTH_ERR, PAM_USER_UNKNOWN, PAM_CRED_INSUFFICIENT, PAM_PERM_DENIED:
            self = .authenticationFailed
        case PAM_MAXTRIES: self = .tooManyTries
        case PAM_CONV_ERR, PAM_CONV_AGAIN, PAM_ABORT: self = .cancelled
        default: self = .system(code)
        }
    }
}
