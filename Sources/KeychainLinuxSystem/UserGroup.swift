// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The groups that this machine knows, from any database.
package enum UserGroup {
    /// Whether this process runs with the rights of that group; false also where that can't be
    /// looked up.
    package static func isOwn(_ name: String) -> Bool {
        // Safe: everything the library writes to lives until its number was looked at.
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64 * 1024) { buffer in
            var entry = unsafe group()
            var found: UnsafeMutablePointer<group>?
            guard
                unsafe getgrnam_r(name, &entry, buffer.baseAddress!, buffer.count, &found) == 0,
                unsafe found != nil
            else { return false }
            return unsafe entry.gr_gid == getegid()
        }
    }

    /// False also where that can't be looked up.
    package static func exists(_ name: String) -> Bool {
        // Safe: everything the library writes to lives until it has been looked at.
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64 * 1024) { buffer in
            var entry = unsafe group()
            var found: UnsafeMutablePointer<group>?
            let result = unsafe getgrnam_r(
                name, &entry, buffer.baseAddress!, buffer.count, &found)
            // The group exists, with too many members for the buffer.
            return unsafe result == ERANGE || (result == 0 && found != nil)
        }
    }
}
