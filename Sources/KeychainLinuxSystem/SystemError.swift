// SPDX-License-Identifier: Apache-2.0
internal import CKeychainLinux

/// What can go wrong with a file, a process or a descriptor.
package enum SystemError: Error, Equatable, Sendable {
    case timedOut
    case tooLarge
    case malformed
    /// A file or folder of another user, or one that other users may read or change.
    case notPrivate
    /// An `errno`.
    case system(Int32)

    /// What the C library says of an `errno`.
    package static func words(_ code: Int32) -> String {
        // Safe: the library's text is never changed nor freed.
        unsafe String(cString: kc_error_text(code))
    }
}
