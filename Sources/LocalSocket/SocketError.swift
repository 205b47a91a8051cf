// SPDX-License-Identifier: Apache-2.0

/// What can go wrong between two processes of one machine.
public enum SocketError: Error, Equatable, Sendable {
    case closed
    case timedOut
    case tooLarge
    /// The receiver has no memory for it now.
    case noRoom
    case malformed
    /// Somebody else than the one who connected has spoken.
    case foreignSender
    case peerNotAllowed
    case pathTooLong
    case addressInUse
    /// An `errno`.
    case system(Int32)
}
