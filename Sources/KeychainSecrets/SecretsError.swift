// SPDX-License-Identifier: Apache-2.0

/// What can go wrong with keys and sealed bytes. Never says anything about their content.
package enum SecretsError: Error, Equatable, Sendable {
    case libraryUnavailable
    case outOfMemory
    /// The bytes were not sealed with this key and this associated data, or are not whole.
    case notAuthentic
    /// Parameters of a key derivation that are outside the limits of this library.
    case parametersOutOfRange
    /// A write did not fit into what was prepared for it.
    case tooLong
}
