// SPDX-License-Identifier: Apache-2.0

/// Why a call to the library failed.
package enum LibCryptoError: Error, Equatable, Sendable {
    /// A foreign value is not allowed by the method: a value of an exchange, a length that the
    /// cipher does not have, wrong padding.
    case refused
    /// The password is wrong, or the bytes were changed.
    case wrongPassword
    /// The library failed.
    case failed
}
