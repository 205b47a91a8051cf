// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// Which file a path leads to, whatever it is called. Links are not followed.
package struct FileIdentity: Equatable, Sendable {
    private let device: UInt64
    private let inode: UInt64

    /// nil where there is nothing.
    package init?(_ path: String) { self.init(path) { _ in true } }

    /// nil where there is no socket.
    package init?(socket path: String) { self.init(path) { $0 == S_IFSOCK } }

    private init?(_ path: String, _ isWanted: (mode_t) -> Bool) {
        var status = stat()
        // Safe: the structure is this function's own, the path is borrowed with a zero at its end.
        let result = unsafe path.withCString { unsafe lstat($0, &status) }
        guard result == 0, isWanted(status.st_mode & S_IFMT) else { return nil }
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }
}
