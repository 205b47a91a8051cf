// SPDX-License-Identifier: Apache-2.0
internal import CShadow
internal import Glibc

/// A user's entry in the machine's account database.
package struct Account: Sendable, Equatable {
    package let name: String
    package let user: UInt32
    /// The account's first group.
    package let group: UInt32

    /// nil where there is no such account, or the database can't be read.
    package static func name(of user: UInt32) -> String? {
        // Safe: `look` lends the entry and the buffer for this call, and tells the buffer's length.
        unsafe look { entry, buffer, found in
            unsafe getpwuid_r(user, entry, buffer.baseAddress!, buffer.count, found)
        }?.name
    }

    package static func named(_ name: String) -> Account? {
        // Safe: as above.
        unsafe look { entry, buffer, found in
            unsafe getpwnam_r(name, entry, buffer.baseAddress!, buffer.count, found)
        }
    }

    /// The names of all groups of an account; nil where they can't be read.
    package static func groups(of name: String) -> [String]? {
        let primary = unsafe look { entry, buffer, found in
            unsafe getpwnam_r(name, entry, buffer.baseAddress!, buffer.count, found)
        }
        guard let primary else { return nil }
        var count: Int32 = 256
        var numbers = [gid_t](repeating: 0, count: Int(count))
        // Safe: the library writes at most `count` numbers.
        guard unsafe getgrouplist(name, primary.group, &numbers, &count) >= 0 else { return nil }
        var names: [String] = []
        for number in numbers.prefix(Int(count)) {
            guard let name = groupName(of: number) else { return nil }
            names.append(name)
        }
        return names
    }

    /// Whether the machine's own database says that the account needs no password. False for an
    /// account that is locked, or that only another database has.
    package static func hasEmptyPassword(_ name: String) -> Bool {
        // Safe: everything the library writes to lives as long as it is looked at.
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16 * 1024) { buffer in
            var entry = unsafe spwd()
            var found: UnsafeMutablePointer<spwd>?
            let result = unsafe getspnam_r(
                name, &entry, buffer.baseAddress!, buffer.count, &found)
            defer { unsafe explicit_bzero(buffer.baseAddress!, buffer.count) }
            guard result == 0, unsafe found != nil, let password = unsafe entry.sp_pwdp else {
                return false
            }
            return unsafe password.pointee == 0
        }
    }

    /// nil where there is no such group.
    package static func groupName(of number: UInt32) -> String? {
        // Safe: everything the library writes to lives until the name was copied.
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64 * 1024) { buffer in
            var entry = unsafe Glibc.group()
            var found: UnsafeMutablePointer<Glibc.group>?
            let result = unsafe getgrgid_r(
                number, &entry, buffer.baseAddress!, buffer.count, &found)
            guard result == 0, unsafe found != nil else { return nil }
            return unsafe String(cString: entry.gr_name)
        }
    }

    private static func look(
        _ question: (
            UnsafeMutablePointer<passwd>, UnsafeMutableBufferPointer<CChar>,
            UnsafeMutablePointer<UnsafeMutablePointer<passwd>?>
        ) -> Int32
    ) -> Account? {
        // Safe: everything the library writes to lives until its texts were copied.
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16 * 1024) { buffer in
            var entry = unsafe passwd()
            var found: UnsafeMutablePointer<passwd>?
            guard unsafe question(&entry, buffer, &found) == 0, unsafe found != nil else {
                return nil
            }
            return unsafe Account(
                name: String(cString: entry.pw_name), user: entry.pw_uid, group: entry.pw_gid)
        }
    }
}
