// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// Which file a path leads to, whatever it is called. Links are not followed.
package struct FilePlace: Equatable, Sendable {
    private let device: UInt64
    private let inode: UInt64

    /// nil where there is nothing.
    package init?(_ path: String) {
        var status = stat()
        // Safe: the structure is this function's own.
        guard unsafe lstat(path, &status) == 0 else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }
}
