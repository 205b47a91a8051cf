// SPDX-License-Identifier: Apache-2.0

/// Errors of keys and sealed bytes. No case tells anything of their content.
package enum SecretsError: Error, Equatable, Sendable {
    case libraryUnavailable
    case outOfMemory
    /// The bytes were not sealed with this key and this context, or are incomplete.
    case notAuthentic
    /// The parameters of a key derivation are outside this library's limits.
    case parametersOutOfRange
    /// A write did not fit into the memory prepared for it.
    case tooLong
}
