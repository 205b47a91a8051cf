// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The open descriptors that a program with more rights than its starter inherited.
package enum InheritedDescriptors {
    /// Closes all descriptors from `first` on, and makes sure that 0, 1 and 2 are open, so that no
    /// file opened later becomes one of them.
    package static func tidy(closingFrom first: Int32) throws(TerminalError) {
        for number in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO]
        where fcntl(number, F_GETFD) < 0 {
            // Safe: the path is a constant. The lowest free number is the one that is missing.
            guard unsafe open("/dev/null", O_RDWR) == number else { throw .system(errno) }
        }
        closefrom(first)
    }
}
