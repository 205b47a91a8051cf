// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The controlling terminal of this process.
package enum ControllingTerminal {
    /// Whether there is a terminal. One that is closed to further programs, as while another program
    /// asks there, is one (`TypingModes`).
    package static var exists: Bool {
        // Safe: opens and closes a descriptor of its own.
        let terminal = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { return errno == EBUSY }
        close(terminal)
        return true
    }
}
