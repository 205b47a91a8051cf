// SPDX-License-Identifier: Apache-2.0
internal import CKeychainLinux
internal import Glibc

/// What a crashing process says: by which signal, and where in the program. The runtime's own message
/// quotes the error that was not expected, and with it rows of a database and arguments; standard
/// error ends in a journal that others read.
package enum CrashReport {
    /// From now on standard error is closed to all, and standard output leads where it led.
    ///
    /// The numbers in a report count from the beginning of the program (`addr2line -e`).
    package static func begin(_ program: String) throws(SystemError) {
        // Safe: copies the text.
        guard unsafe kc_tell_of_crashes(program) == 0 else { throw .system(errno) }
    }
}
