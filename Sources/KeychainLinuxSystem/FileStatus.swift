// SPDX-License-Identifier: Apache-2.0
internal import CKeychainLinux
internal import Glibc

/// The kernel's facts about the file at a path. Links are not followed.
package struct FileStatus: Sendable, Equatable {
    package enum Kind: Sendable { case file, folder, other }

    package let owner: UInt32
    /// The permission bits alone.
    package let mode: UInt32
    /// In bytes.
    package let size: Int
    /// When the content was changed, since 1970.
    package let changed: Duration
    /// Together the two identify one file, while it exists.
    package let device: UInt64
    package let number: UInt64
    private let format: UInt32

    /// Told when it is asked for: a request that compares two files needs their numbers alone.
    package var kind: Kind {
        switch format {
        case S_IFREG: .file
        case S_IFDIR: .folder
        default: .other
        }
    }

    /// The time since the content was changed; negative where a clock was wrong.
    package var age: Duration { WallClock.now - changed }

    /// nil where there is no file.
    package init?(_ path: String) {
        var status = stat()
        // Safe: the structure is this function's own.
        guard unsafe lstat(path, &status) == 0 else { return nil }
        owner = status.st_uid
        mode = status.st_mode & 0o7777
        format = status.st_mode & ~0o7777
        size = Int(status.st_size)
        changed = .seconds(status.st_mtim.tv_sec) + .nanoseconds(status.st_mtim.tv_nsec)
        device = UInt64(status.st_dev)
        number = UInt64(status.st_ino)
    }

    /// When the file was made, in seconds since 1970; nil where its file system does not tell.
    package static func made(_ path: String) -> UInt64? {
        // Safe: reads the path.
        let made = unsafe kc_file_made(path)
        return made == 0 ? nil : made
    }

    /// Changes the permissions of the file at the path, never those of a link's target. Returns
    /// false on failure.
    package static func setMode(_ mode: UInt32, of path: String) -> Bool {
        // Safe: opened for looking only, closed by its owner.
        let number = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard number >= 0 else { return false }
        let file = Descriptor(owning: number)
        // Otherwise the file would be closed once its number has been read.
        return withExtendedLifetime(file) { fchmod(file.number, mode) == 0 }
    }

    /// Sets the time of the last change of the file at the path, never of a link's target. Returns
    /// false on failure.
    @discardableResult
    package static func setChanged(_ time: Duration, of path: String) -> Bool {
        let (seconds, attoseconds) = time.components
        let stamp = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
        // Safe: reads the path and two times.
        return unsafe utimensat(AT_FDCWD, path, [stamp, stamp], AT_SYMLINK_NOFOLLOW) == 0
    }
}

extension FileStatus {
    /// Throws the reason where there is no status: `PrivateFile.notFound` for a missing file.
    package init(of path: String) throws(SystemError) {
        guard let status = FileStatus(path) else { throw .system(errno) }
        self = status
    }
}

/// Identifies the file at a path, whatever its name. Links are not followed.
package struct FileIdentity: Equatable, Sendable {
    private let device: UInt64
    private let inode: UInt64

    /// nil where there is no file.
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
