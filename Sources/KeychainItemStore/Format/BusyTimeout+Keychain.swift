// SPDX-License-Identifier: Apache-2.0
internal import KeychainDatabase

/// How long a call waits for another process to release the file, before it throws `.busy`.
extension BusyTimeout {
    /// For a service that has its files to itself: other processes are rare, and it serves many
    /// users.
    static let ofOwner = BusyTimeout(seconds: 5)
    /// For programs that share a file: they wait for one another often, and machines may be slow.
    static let amongEquals = BusyTimeout(seconds: 30)
}
