// SPDX-License-Identifier: Apache-2.0

/// A message that does not mean anything.
package enum MessageError: Error, Equatable, Sendable {
    case malformed
    /// The lengths it names are not those of the secrets beside it.
    case secretsDoNotFit
}
