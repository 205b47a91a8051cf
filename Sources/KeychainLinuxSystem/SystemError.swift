// SPDX-License-Identifier: Apache-2.0

/// What can go wrong with a file, a process or a descriptor.
package enum SystemError: Error, Equatable, Sendable {
    case timedOut
    case tooLarge
    case malformed
    /// A file or folder of another user, or one that other users may read or change.
    case notPrivate
    /// An `errno`.
    case system(Int32)
}
