// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The contents of a folder.
package enum FolderNames {
    /// Names in no order, as far as they can be read; empty where there is no folder.
    package static func all(in path: String) -> [String] {
        // Safe: the stream is closed on every path.
        guard let stream = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(stream) }
        return unsafe names(stream).names
    }

    /// Every name, in no order; empty where there is no folder. Throws where one could be missing.
    package static func complete(in path: String) throws(SystemError) -> [String] {
        // Safe: as above.
        guard let stream = unsafe opendir(path) else {
            guard errno == ENOENT || errno == ENOTDIR else { throw .system(errno) }
            return []
        }
        defer { unsafe closedir(stream) }
        let found = unsafe names(stream)
        guard found.error == 0 else { throw .system(found.error) }
        return found.names
    }

    /// Removes a file, or a folder with its contents; does nothing where there is none, and leaves
    /// what can't be removed. Links are removed, never their targets.
    package static func remove(_ path: String) {
        remove(path, in: AT_FDCWD)
    }

    private static func remove(_ name: String, in folder: Int32) {
        // Safe: reads the name.
        if unsafe unlinkat(folder, name, 0) == 0 { return }
        let number = unsafe openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard number >= 0 else { return }
        // Safe: the stream owns the descriptor from here on, and is closed on every path.
        guard let stream = unsafe fdopendir(number) else {
            close(number)
            return
        }
        for below in unsafe names(stream).names { remove(below, in: number) }
        unsafe closedir(stream)
        _ = unsafe unlinkat(folder, name, AT_REMOVEDIR)
    }

    /// The error is 0 where the names are complete.
    private static func names(_ stream: OpaquePointer) -> (names: [String], error: Int32) {
        var names: [String] = []
        while true {
            // An end of the folder leaves the number as it is.
            errno = 0
            // Safe: an entry is used before the next is read, and its name ends with a zero.
            guard let entry = unsafe readdir(stream) else { return (names, errno) }
            let start = unsafe UnsafeRawPointer(entry) + MemoryLayout<dirent>.offset(of: \.d_name)!
            let name = unsafe String(cString: start.assumingMemoryBound(to: CChar.self))
            if name != ".", name != ".." { names.append(name) }
        }
    }
}
