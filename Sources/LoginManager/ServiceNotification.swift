// SPDX-License-Identifier: Apache-2.0
internal import CSystemd
internal import Glibc

/// The messages between a service and systemd; does nothing where systemd did not start the
/// process.
package enum ServiceNotification {
    package static func ready() { notify("READY=1") }
    package static func stopping() { notify("STOPPING=1") }

    private static func notify(_ state: String) {
        // Safe: reads the text.
        _ = unsafe sd_notify(0, state)
    }

    /// Stores a descriptor in systemd, which returns it at the next start of the service; it
    /// replaces one of the same name. Returns false where it is not taken.
    package static func store(descriptor: Int32, named name: String) -> Bool {
        forget(descriptorNamed: name)
        var number = descriptor
        // Safe: reads one number and the text. 0: no listener.
        return unsafe sd_pid_notify_with_fds(0, 0, "FDSTORE=1\nFDNAME=\(name)", &number, 1) > 0
    }

    /// Has systemd close the descriptor that it stores, if there is one.
    package static func forget(descriptorNamed name: String) {
        notify("FDSTOREREMOVE=1\nFDNAME=\(name)")
    }

    /// The descriptors that systemd passed, by name. Called once, as the caller then owns them.
    package static func inherited() -> [(name: String, descriptor: Int32)] {
        var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        // Safe: the library allocates the list and the texts, which are freed here.
        let count = unsafe sd_listen_fds_with_names(1, &names)
        guard count > 0, let names = unsafe names else { return [] }
        defer { unsafe free(names) }
        return (0..<Int(count)).map { index in
            let text = unsafe names[index]!
            defer { unsafe free(text) }
            return unsafe (String(cString: text), 3 + Int32(index))
        }
    }
}
