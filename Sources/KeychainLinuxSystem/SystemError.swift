// SPDX-License-Identifier: Apache-2.0
internal import CKeychainLinux

/// Errors of files, processes and descriptors.
package enum SystemError: Error, Equatable, Sendable {
    case timedOut
    case tooLarge
    case malformed
    /// The file or folder is another user's, or other users may read or change it.
    case notPrivate
    /// An `errno`.
    case system(Int32)

    /// The C library's text for an `errno`.
    package static func words(_ code: Int32) -> String {
        // Safe: the library's text is never changed nor freed.
        unsafe String(cString: kc_error_text(code))
    }
}
