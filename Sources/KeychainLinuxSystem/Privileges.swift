// SPDX-License-Identifier: Apache-2.0
internal import CKeychainLinux
internal import Glibc

/// What a process may do on the machine.
package enum Privileges {
    /// Where the package's accounts were not made.
    private static let nobody: UInt32 = 65534

    /// Gives root's rights up for good, where the process has them: for work on other people's
    /// bytes. An account of the program's own is shared with no other process.
    package static func drop(to account: String) throws(SystemError) {
        guard geteuid() == 0 else { return }
        let (user, group) = numbers(of: account) ?? (nobody, nobody)
        // As root these set the real, the effective and the saved id.
        guard setgroups(0, nil) == 0, setgid(group) == 0, setuid(user) == 0 else {
            throw .system(errno)
        }
        // With the user the kernel forgets that the process may not be traced.
        try ProcessHardening.apply()
    }

    /// Takes a device's group, where the process is root's: it then opens a device that is another
    /// account's and open to its group, and needs no right to pass over owners.
    package static func takeGroup(of device: String) {
        var status = stat()
        // Safe: the structure is this function's own.
        guard geteuid() == 0, unsafe stat(device, &status) == 0 else { return }
        var group = status.st_gid
        _ = unsafe setgroups(1, &group)
    }

    /// Gives a group up for good that is the program's file's and not its user's.
    package static func dropForeignGroup() throws(SystemError) {
        // The real id is set, too, so that the kernel sets the saved one.
        guard setregid(getgid(), getgid()) == 0 else { throw .system(errno) }
    }

    private static func numbers(of account: String) -> (user: UInt32, group: UInt32)? {
        // Safe: everything the library writes to lives until its numbers were copied.
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16 * 1024) { buffer in
            var entry = unsafe passwd()
            var found: UnsafeMutablePointer<passwd>?
            guard
                unsafe getpwnam_r(
                    account, &entry, buffer.baseAddress!, buffer.count, &found) == 0,
                unsafe found != nil
            else { return nil }
            return unsafe (entry.pw_uid, entry.pw_gid)
        }
    }
}
