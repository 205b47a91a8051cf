// SPDX-License-Identifier: Apache-2.0
internal import CKeychainLinux
internal import Glibc

/// Paths that only root can change.
package enum TrustedPath {
    /// The folders where desktops mount removable media.
    private static let mediaFolders = ["/media", "/run/media"]

    /// Whether the file and every folder above it belong to root and no other user can write to
    /// them, and the path names that very file.
    package static func isTrusted(_ facts: ExecutableFacts) -> Bool {
        namesSameFile(facts) && isClosed(facts.path) { _ in true }
    }

    /// Whether the path leads to a file that only root can change, in folders that only root can
    /// change, and that every user may look at: so the answer tells a user nothing that the user
    /// could not find out.
    ///
    /// For paths that a program names. The folders are checked from the top, so that parts that a
    /// user may not see, has brought along, or would mount by looking are never reached.
    package static func isTrustedAndPublic(_ path: String) -> Bool {
        isClosed(path) { part in
            guard let status = status(part), !hasAccessList(part) else { return false }
            return status.st_mode & S_IFMT != S_IFDIR
                || (status.st_mode & S_IXOTH != 0 && !isAutomounted(part))
        }
    }

    /// Whether the path names the same file to this process.
    package static func namesSameFile(_ facts: ExecutableFacts) -> Bool {
        guard let status = status(facts.path) else { return false }
        return UInt64(status.st_dev) == facts.device && UInt64(status.st_ino) == facts.inode
    }

    /// Checks the parts from the top; the first that fails ends the check.
    private static func isClosed(_ path: String, _ isFine: (String) -> Bool) -> Bool {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        guard path.hasPrefix("/"), !parts.contains(where: { ["", ".", ".."].contains($0) }) else {
            return false
        }
        var folder = "/"
        for part in parts {
            guard isClosed(folder, S_IFDIR), isFine(folder) else { return false }
            folder += (folder == "/" ? "" : "/") + part
        }
        return isClosed(path, S_IFREG) && isFine(path)
    }

    private static func isClosed(_ path: String, _ kind: mode_t) -> Bool {
        guard let status = status(path) else { return false }
        return status.st_mode & S_IFMT == kind && status.st_uid == 0
            && status.st_mode & (S_IWGRP | S_IWOTH) == 0
            && !isBrought(path, status)
    }

    /// Whether the file may be on a file system that a user brought, whose owners and modes that
    /// user controls: such file systems are mounted `nosuid`. The root file system is never a
    /// user's.
    private static func isBrought(_ path: String, _ status: stat) -> Bool {
        if mediaFolders.contains(path) { return true }
        guard let root = Self.status("/"), root.st_dev != status.st_dev else { return false }
        // Safe: reads the path.
        return unsafe kc_is_mounted_nosuid(path) != 0
    }

    private static func isAutomounted(_ path: String) -> Bool {
        // Safe: reads the path.
        unsafe kc_is_automounted(path) != 0
    }

    /// Whether an access list beside the mode decides about access.
    private static func hasAccessList(_ path: String) -> Bool {
        // Safe: reads the path.
        unsafe kc_has_access_list(path) != 0
    }

    private static func status(_ path: String) -> stat? {
        var status = stat()
        // Safe: the structure is this function's own.
        return unsafe lstat(path, &status) == 0 ? status : nil
    }
}
