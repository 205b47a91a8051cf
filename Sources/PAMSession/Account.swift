// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// What the machine's account database says of a user.
public struct Account: Sendable, Equatable {
    public let name: String
    public let user: UInt32

    /// nil where there is no such account, or nobody could say.
    public static func name(of user: UInt32) -> String? {
        unsafe look { entry, buffer, found in
            unsafe getpwuid_r(user, entry, buffer.baseAddress!, buffer.count, found)
        }?.name
    }

    public static func named(_ name: String) -> Account? {
        unsafe look { entry, buffer, found in
            unsafe getpwnam_r(name, entry, buffer.baseAddress!, buffer.count, found)
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
            return unsafe Account(name: String(cString: entry.pw_name), user: entry.pw_uid)
        }
    }
}
