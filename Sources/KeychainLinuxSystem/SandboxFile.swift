// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// A small file at the root of a process's own view of the file systems.
///
/// The process's user can arrange that view. A file there is read only from a file system of the
/// kernel's own: one of the user's (FUSE), or one on another machine, answers whenever it likes.
extension PinnedProcess {
    private static let longestMounts = 512 * 1024
    private static let own: Set<Substring> = [
        "btrfs", "erofs", "ext2", "ext3", "ext4", "f2fs", "overlay", "squashfs", "tmpfs", "xfs",
        "zfs",
    ]

    /// At most `limit` bytes of the regular file of that name; nil where there is none, or its file
    /// system is unknown.
    package func readAtRoot(_ name: String, limit: Int) -> [UInt8]? {
        guard let kind = fileSystem(of: "/" + name), Self.own.contains(kind),
            let file = open(name)
        else { return nil }
        return withExtendedLifetime(file) {
            KernelFile.read("/proc/self/fd/\(file.number)", limit: limit)
        }
    }

    private func open(_ name: String) -> Descriptor? {
        // Safe: opened below the pinned folder, without a wait for a writer; closed by its owner.
        let number = unsafe openat(
            folderNumber, "root/" + name,
            O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard number >= 0 else { return nil }
        let file = Descriptor(owning: number)
        var status = stat()
        // Safe: the structure is this function's own.
        guard unsafe fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return nil
        }
        return file
    }

    /// The type of the file system that is mounted there last, or else at the root.
    private func fileSystem(of path: String) -> Substring? {
        let file = "/proc/\(id)/mountinfo"
        guard let bytes = KernelFile.read(file, limit: Self.longestMounts),
            bytes.count < Self.longestMounts, isAlive
        else { return nil }
        var atRoot: Substring?
        var atPath: Substring?
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count > 4, let mark = words.firstIndex(of: "-"), mark + 1 < words.count
            else { continue }
            // Safe: the counts were checked.
            let (place, kind) = (words[4], words[mark + 1])
            if place == "/" { atRoot = kind }
            if place == path { atPath = kind }
        }
        return atPath ?? atRoot
    }
}
