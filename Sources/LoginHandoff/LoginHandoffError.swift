// SPDX-License-Identifier: Apache-2.0

/// What can be wrong with a peer of the login sockets. Says nothing of what it sent.
package enum LoginHandoffError: Error, Equatable, Sendable {
    /// The peer closed its end before the frame was whole.
    case closed
    case timedOut
    /// Not this protocol.
    case foreign
    /// This protocol, in a version before or after the one that is read here.
    case older
    case newer
    /// The header announces, or a field is, more than the protocol allows.
    case tooLong
    case malformed
    /// An `errno`.
    case system(Int32)
}
