// SPDX-License-Identifier: Apache-2.0

/// Errors of a peer of the login sockets. They have no bytes of its message.
package enum LoginHandoffError: Error, Equatable, Sendable {
    /// The peer closed its end before the frame was whole.
    case closed
    case timedOut
    /// Other bytes than this protocol's.
    case foreign
    /// This protocol, in an older or newer version.
    case older
    case newer
    /// The header announces more than the protocol allows, or a field is too long.
    case tooLong
    case malformed
    /// An `errno`.
    case system(Int32)
}
