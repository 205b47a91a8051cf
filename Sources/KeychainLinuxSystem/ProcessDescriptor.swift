// SPDX-License-Identifier: Apache-2.0
internal import CKeychainLinux
internal import Glibc

/// A descriptor of one process (pidfd), which never refers to another that gets its number.
package enum ProcessDescriptor {
    /// nil where there is no such process.
    package static func open(_ id: Int32) -> Descriptor? {
        guard id > 0 else { return nil }
        let number = kc_pidfd_open(id)
        return number >= 0 ? Descriptor(owning: number) : nil
    }

    /// The descriptor, where it is one of a process.
    package static func checked(_ descriptor: Descriptor?) -> Descriptor? {
        guard let descriptor, kc_pidfd_kill(descriptor.number, 0) == 0 || errno != EBADF else {
            return nil
        }
        return descriptor
    }

    /// Whether the process ends within the time.
    package static func ends(_ process: Descriptor, within time: Duration) -> Bool {
        (try? Wait.until(Wait.input, process.number, deadline: .now + time)) != nil
    }

    /// Ends it, where this process may.
    package static func kill(_ process: Descriptor) { _ = kc_pidfd_kill(process.number, SIGKILL) }
}
