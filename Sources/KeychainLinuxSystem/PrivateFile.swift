// SPDX-License-Identifier: Apache-2.0
internal import CKeychainLinux
internal import Glibc
package import KeychainSecrets

/// Small files that hold a key: one owner, one link, no rights for other users.
package enum PrivateFile {
    /// The `errno` for a missing file.
    package static let notFound = ENOENT
    package static let noSpace = ENOSPC
    package static let readOnly = EROFS

    private static let longestOverwritten = 1024 * 1024

    /// Throws for links, files of other users, and files that others may read.
    package static func read(_ path: String, limit: Int) throws(SystemError) -> SecretBytes {
        // Safe: the descriptor is closed on every path.
        let number = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard number >= 0 else { throw .system(errno) }
        let descriptor = Descriptor(owning: number)
        var status = stat()
        guard unsafe fstat(descriptor.number, &status) == 0 else { throw .system(errno) }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
            status.st_mode & 0o077 == 0, status.st_nlink == 1
        else { throw .notPrivate }
        guard status.st_size <= limit else { throw .tooLarge }
        return try SecretBytes(count: Int(status.st_size)) {
            (span: inout MutableRawSpan) throws(SystemError) in
            // Safe: reads at most the span's length.
            let count = unsafe span.withUnsafeMutableBytes {
                unsafe Glibc.read(descriptor.number, $0.baseAddress, $0.count)
            }
            guard count == span.byteCount else { throw count < 0 ? .system(errno) : .malformed }
        }
    }

    /// Makes the file whole or not at all; an existing file is not replaced (`EEXIST`).
    package static func create(
        _ path: String, contents: borrowing SecretBytes
    ) throws(SystemError) {
        try make(path, contents, replacing: false)
    }

    /// Makes the file whole, in the place of the one that may be there, or leaves that one.
    package static func replace(
        _ path: String, contents: borrowing SecretBytes
    ) throws(SystemError) {
        try make(path, contents, replacing: true)
    }

    private static func make(
        _ path: String, _ contents: borrowing SecretBytes, replacing: Bool
    ) throws(SystemError) {
        let temporary = path + ".new-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        let descriptor = try Descriptor.creating(temporary)
        do throws(SystemError) {
            try descriptor.write(contents)
            try descriptor.sync()
            // Safe: reads the paths. Renamed, not linked: never has it two names, which `read` refuses.
            let result = unsafe replacing ? rename(temporary, path) : kc_rename_new(temporary, path)
            guard result == 0 else { throw .system(errno) }
        } catch {
            _ = unsafe unlink(temporary)
            throw error
        }
        try sync(folderOf: path)
    }

    /// Overwrites the file before it is unlinked, if it is this user's alone; does nothing where
    /// there is none. File systems may have kept older copies.
    package static func remove(_ path: String) {
        // Safe: writes over the file's own length.
        let number = unsafe open(path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        if number >= 0 { overwrite(Descriptor(owning: number)) }
        _ = unsafe unlink(path)
        try? sync(folderOf: path)
    }

    private static func overwrite(_ descriptor: Descriptor) {
        var status = stat()
        // Safe: the structure is this function's own.
        guard unsafe fstat(descriptor.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_uid == geteuid(), status.st_nlink == 1, status.st_size <= longestOverwritten
        else { return }
        let zeros = SecretBytes(count: Int(status.st_size)) { (_: inout MutableRawSpan) in }
        try? descriptor.write(zeros)
        fsync(descriptor.number)
    }

    /// Makes created and removed names in the folder survive a power cut.
    package static func sync(folderOf path: String) throws(SystemError) {
        let folder = path.lastIndex(of: "/").map { path[..<$0] } ?? "."
        // Safe: opened, synced, closed.
        let number = unsafe open(
            folder.isEmpty ? "/" : String(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw .system(errno) }
        defer { close(number) }
        // EINVAL: the file system has nothing to sync there.
        guard fsync(number) == 0 || errno == EINVAL else { throw .system(errno) }
    }
}
