// SPDX-License-Identifier: Apache-2.0
internal import CLinux
internal import Glibc

/// What a process may do on the machine.
public enum Privileges {
    private static let nobody: UInt32 = 65534

    /// Gives root's rights up for good, where the process has them: for work on other people's
    /// bytes.
    public static func drop() throws(SocketError) {
        guard geteuid() == 0 else { return }
        // As root these set the real, the effective and the saved id.
        guard setgroups(0, nil) == 0, setgid(nobody) == 0, setuid(nobody) == 0 else {
            throw .system(errno)
        }
    }
}
