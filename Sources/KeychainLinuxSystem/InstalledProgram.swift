// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// A program that the administrator installed: only root could have changed or replaced it.
package enum InstalledProgram {
    /// Whether the file and all folders above it are root's, with no other user able to write to
    /// them.
    package static func isTrusted(_ path: String) -> Bool {
        facts(path).map(TrustedPath.isTrusted) ?? false
    }

    /// The group of a trusted setgid program; nil for any other file.
    package static func setgidGroup(_ path: String) -> UInt32? {
        guard isTrusted(path), let status = status(path),
            status.st_mode & S_ISGID != 0, status.st_gid != 0
        else { return nil }
        return status.st_gid
    }

    /// The path of this very process's program.
    package static func ownPath() -> String? {
        PinnedProcess(pid: getpid(), pidfd: nil)?.executable()?.path
    }

    /// The file that a path leads to, named as the kernel names it for a process that runs it; nil
    /// where there is no regular file.
    package static func resolved(_ path: String) -> String? {
        guard path.hasPrefix("/"), path.utf8.count <= Int(PATH_MAX) else { return nil }
        // Safe: the text is borrowed for the call; what comes back is freed here.
        guard let found = unsafe realpath(path, nil) else { return nil }
        defer { unsafe free(found) }
        guard let resolved = unsafe String(validatingCString: found),
            status(resolved).map({ $0.st_mode & S_IFMT == S_IFREG }) ?? false
        else { return nil }
        return resolved
    }

    /// A program of the same installation: `relative` counts from the folder of this program.
    package static func sibling(_ relative: String) -> String? {
        guard let own = ownPath(), let slash = own.lastIndex(of: "/") else { return nil }
        var parts = own[..<slash].split(separator: "/").map(String.init)
        for part in relative.split(separator: "/") {
            if part == ".." { _ = parts.popLast() } else { parts.append(String(part)) }
        }
        return "/" + parts.joined(separator: "/")
    }

    /// A program that this one may become or start on behalf of its user: from the installation's
    /// folder for such programs, where it must be root's alone; else from the folder of this
    /// program, which a process with more rights than its user does not trust.
    package static func companion(_ name: String) -> String? {
        if let installed = sibling("../libexec/keychain/" + name), isTrusted(installed) {
            return installed
        }
        guard !ProcessHardening.runsWithForeignRights, let beside = sibling(name),
            status(beside) != nil
        else { return nil }
        return beside
    }

    private static func facts(_ path: String) -> ExecutableFacts? {
        status(path).map {
            ExecutableFacts(path: path, device: UInt64($0.st_dev), inode: UInt64($0.st_ino))
        }
    }

    private static func status(_ path: String) -> stat? {
        var status = stat()
        // Safe: the structure is this function's own.
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return nil
        }
        return status
    }
}
