// SPDX-License-Identifier: Apache-2.0

/// Why the library's work came to nothing.
package enum LibCryptoError: Error, Equatable, Sendable {
    /// What came from elsewhere is outside what the method allows: a value of an exchange, a length
    /// that the cipher does not have, padding that is none.
    case refused
    /// Another password, or bytes that were changed.
    case wrongPassword
    /// The library did not do its work.
    case failed
}
