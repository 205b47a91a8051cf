// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// Paths that only root can change.
public enum TrustedPath {
    /// Whether the file and every folder above it belong to root and nobody else can write to them,
    /// and the path names that very file.
    public static func isTrusted(_ facts: ExecutableFacts) -> Bool {
        guard namesSameFile(facts), isClosed(facts.path, folder: false) else { return false }
        var path = facts.path[...]
        while let slash = path.lastIndex(of: "/") {
            path = path[..<slash]
            guard isClosed(path.isEmpty ? "/" : String(path), folder: true) else { return false }
        }
        return true
    }

    /// Whether the path means the same file to us.
    public static func namesSameFile(_ facts: ExecutableFacts) -> Bool {
        guard let status = status(facts.path) else { return false }
        return UInt64(status.st_dev) == facts.device && UInt64(status.st_ino) == facts.inode
    }

    private static func isClosed(_ path: String, folder: Bool) -> Bool {
        guard let status = status(path) else { return false }
        return status.st_mode & S_IFMT == (folder ? S_IFDIR : S_IFREG) && status.st_uid == 0
            && status.st_mode & (S_IWGRP | S_IWOTH) == 0
    }

    private static func status(_ path: String) -> stat? {
        var status = stat()
        // Safe: the structure is this function's own.
        return unsafe lstat(path, &status) == 0 ? status : nil
    }
}
