// SPDX-License-Identifier: Apache-2.0
internal import CKeychainLinux
internal import Glibc

/// The report of a crashing process: the signal, and the place in the program. The runtime's own
/// message quotes the unexpected error, and with it database rows and arguments; standard error
/// goes to a journal that others read.
package enum CrashReport {
    /// From now on output to standard error is discarded, and standard output leads where standard
    /// error led.
    ///
    /// The numbers in a report are offsets in the program (`addr2line -e`).
    package static func begin(_ program: String) throws(SystemError) {
        // Safe: copies the text.
        guard unsafe kc_tell_of_crashes(program) == 0 else { throw .system(errno) }
    }
}
