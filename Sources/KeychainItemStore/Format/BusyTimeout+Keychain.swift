// SPDX-License-Identifier: Apache-2.0
internal import KeychainDatabase

/// How long a call waits for another process that has the file, before it throws `.busy`.
extension BusyTimeout {
    /// A service that has its files to itself meets others by accident only, and serves many.
    static let ofOwner = BusyTimeout(seconds: 5)
    /// Programs that share a file are in each other's way all the time, and machines may be slow.
    static let amongEquals = BusyTimeout(seconds: 30)
}
