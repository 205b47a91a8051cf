// SPDX-License-Identifier: Apache-2.0

/// What can go wrong between two processes of one machine.
package enum SocketError: Error, Equatable, Sendable {
    case closed
    case timedOut
    case tooLarge
    /// The receiver has no memory for it now.
    case noRoom
    case malformed
    /// Another process than the one that connected has spoken.
    case foreignSender
    case peerNotAllowed
    case pathTooLong
    case addressInUse
    /// An `errno`.
    case system(Int32)
}
