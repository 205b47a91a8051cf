// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The state of a file by which a change since it was read is noticed.
package struct FileStamp: Sendable, Equatable {
    private let numbers: [Int64]

    /// nil where there is no file.
    package init?(_ path: String) {
        var status = stat()
        // Safe: the structure is this function's own.
        guard unsafe stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    fileprivate init(_ status: stat) {
        numbers = [
            Int64(bitPattern: UInt64(status.st_dev)), Int64(bitPattern: UInt64(status.st_ino)),
            Int64(status.st_size), Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec),
            Int64(status.st_ctim.tv_sec), Int64(status.st_ctim.tv_nsec),
        ]
    }
}

extension PrivateFile {
    /// Overwrites all of a file of this user's and unlinks it. The file must have no other name,
    /// whose content would be lost. A file that has changed since the stamp stays, and so does one
    /// that has taken its name meanwhile. File systems may have kept older copies.
    package static func shred(_ path: String, _ stamp: FileStamp) throws(SystemError) {
        // Safe: the descriptor is closed by its owner.
        let number = unsafe open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard number >= 0 else { throw .system(errno) }
        let file = Descriptor(owning: number)
        var status = stat()
        // Safe: the structure is this function's own.
        guard unsafe fstat(number, &status) == 0 else { throw .system(errno) }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(), status.st_nlink == 1,
            FileStamp(status) == stamp
        else { throw .notPrivate }
        try withExtendedLifetime(file) { () throws(SystemError) in
            var left = Int(status.st_size)
            let zeros = [UInt8](repeating: 0, count: 64 * 1024)
            while left > 0 {
                // Safe: at most the array's length.
                let count = unsafe zeros.withUnsafeBytes {
                    unsafe Glibc.write(number, $0.baseAddress, min(left, $0.count))
                }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw .system(errno) }
                left -= count
            }
            guard fsync(number) == 0 else { throw .system(errno) }
        }
        var named = stat()
        // Safe: reads the path; the structure is this function's own.
        guard unsafe lstat(path, &named) == 0 else { throw .system(errno) }
        guard named.st_dev == status.st_dev, named.st_ino == status.st_ino else {
            throw .notPrivate
        }
        // Safe: reads the path.
        guard unsafe unlink(path) == 0 else { throw .system(errno) }
        try sync(folderOf: path)
    }
}
