// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The account database's entry for the user that this process runs as.
package struct UserAccount: Sendable {
    package let name: String
    package let home: String

    /// nil where there is no such account, or it can't be looked up.
    package static let own: UserAccount? = look()

    private static func look() -> UserAccount? {
        // Safe: everything the library writes to lives until it was copied.
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64 * 1024) { buffer in
            var entry = unsafe passwd()
            var found: UnsafeMutablePointer<passwd>?
            guard
                unsafe getpwuid_r(
                    geteuid(), &entry, buffer.baseAddress!, buffer.count, &found) == 0,
                unsafe found != nil, let name = unsafe entry.pw_name,
                let home = unsafe entry.pw_dir
            else { return nil }
            return unsafe UserAccount(name: String(cString: name), home: String(cString: home))
        }
    }
}
