// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The controlling terminal of this process.
package enum ControllingTerminal {
    /// Whether there is a terminal that can be opened.
    package static var exists: Bool {
        // Safe: opens and closes a descriptor of its own.
        let terminal = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { return false }
        close(terminal)
        return true
    }
}
