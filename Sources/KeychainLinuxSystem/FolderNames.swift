// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The contents of a folder.
package enum FolderNames {
    /// Names in no order; empty where the folder can't be read, or is missing.
    package static func all(in path: String) -> [String] {
        // Safe: the stream is closed on every path.
        guard let stream = unsafe opendir(path) else { return [] }
        defer { unsafe closedir(stream) }
        return unsafe names(stream)
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
        for below in unsafe names(stream) { remove(below, in: number) }
        unsafe closedir(stream)
        _ = unsafe unlinkat(folder, name, AT_REMOVEDIR)
    }

    private static func names(_ stream: OpaquePointer) -> [String] {
        var names: [String] = []
        // Safe: an entry is used before the next is read, and its name ends with a zero.
        while let entry = unsafe readdir(stream) {
            let start = unsafe UnsafeRawPointer(entry) + MemoryLayout<dirent>.offset(of: \.d_name)!
            let name = unsafe String(cString: start.assumingMemoryBound(to: CChar.self))
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
