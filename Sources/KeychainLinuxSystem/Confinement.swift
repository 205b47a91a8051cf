// SPDX-License-Identifier: Apache-2.0
internal import CKeychainLinux
internal import Glibc

/// What a process takes away from itself before it reads bytes that another user or a device wrote.
package enum Confinement {
    /// Of the address space: the program with its libraries, and the largest record once.
    private static let memoryBytes: UInt64 = 256 * 1024 * 1024
    /// Of secrets, and of their guard pages.
    private static let lockedBytes: UInt64 = 1024 * 1024

    /// Leaves the process no right of root's, no file, no other process, and no system call but those
    /// that read one descriptor and write to another; bounds its memory, and its processor time to
    /// `seconds`. A call or a need beyond that ends the process.
    package static func enter(as account: String, seconds: UInt32) throws(SystemError) {
        try Privileges.drop(to: account)
        guard kc_limit(memoryBytes, 0, UInt64(seconds)) == 0, kc_forbid_files() == 0,
            kc_allow_only_reading_and_writing() == 0
        else { throw .system(errno) }
    }

    /// The same for a process that holds secrets and speaks to a device. The device is open before.
    package static func enterWithDevice(
        as account: String, seconds: UInt32
    ) throws(SystemError) {
        try Privileges.drop(to: account)
        guard kc_limit(memoryBytes, lockedBytes, UInt64(seconds)) == 0, kc_forbid_files() == 0,
            kc_allow_only_speaking_to_devices() == 0
        else { throw .system(errno) }
    }

    /// Leaves a process that has the right to look at others no call by which it would change a file,
    /// act on a process, connect to a socket, start a program or use a key. Must be called before
    /// there is another thread.
    package static func lookOnly() throws(SystemError) {
        guard kc_allow_only_looking() == 0 else { throw .system(errno) }
    }
}
