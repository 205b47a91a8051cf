// SPDX-License-Identifier: Apache-2.0
internal import Glibc

extension PrivateFile {
    /// Makes the folder and its missing ancestors. An existing folder must be this user's and
    /// closed to other writers; it is not changed.
    package static func folder(_ path: String, mode: UInt32) throws(SystemError) {
        let made = try make(path, mode: mode)
        // Safe: opened for looking only, closed by its owner.
        let number = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw errno == ENOTDIR ? .notPrivate : .system(errno) }
        let descriptor = Descriptor(owning: number)
        var status = stat()
        // Safe: the structure is this function's own.
        guard unsafe fstat(descriptor.number, &status) == 0 else { throw .system(errno) }
        guard status.st_uid == geteuid(), status.st_mode & (S_IWGRP | S_IWOTH) == 0
        else { throw .notPrivate }
        // The umask must not change the mode of a new folder.
        if made, fchmod(descriptor.number, mode) != 0 { throw .system(errno) }
    }

    /// Returns whether the folder was missing.
    private static func make(_ path: String, mode: UInt32) throws(SystemError) -> Bool {
        // Safe: reads the path.
        if unsafe mkdir(path, mode) == 0 { return keep(path) }
        switch errno {
        case EEXIST: return false
        case ENOENT:
            guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
                throw .system(ENOENT)
            }
            _ = try make(String(path[..<slash]), mode: 0o755)
            // Safe: as above.
            if unsafe mkdir(path, mode) == 0 { return keep(path) }
            if errno == EEXIST { return false }
            throw .system(errno)
        default: throw .system(errno)
        }
    }

    /// Syncs the folder above, as a power cut could otherwise remove the new folder with everything
    /// in it. A folder above that can't be read can't be synced either.
    private static func keep(_ path: String) -> Bool {
        try? sync(folderOf: path)
        return true
    }
}
