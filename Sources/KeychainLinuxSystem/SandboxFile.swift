// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The file at the root of a process's own view of the file systems in which Flatpak names the
/// application.
///
/// The process's user can arrange that view. A file there is opened only from a file system of the
/// kernel's own: one of the user's (FUSE), or one on another machine, answers whenever it likes.
package struct SandboxFile: Sendable {
    static let name = ".flatpak-info"

    package let descriptor: Descriptor

    package init(_ descriptor: Descriptor) { self.descriptor = descriptor }

    /// At most `limit` bytes of it; nil where it is empty or can't be read.
    package func contents(limit: Int) -> [UInt8]? {
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, written in
            // Safe: the kernel writes at most the buffer's length.
            written = unsafe max(pread(descriptor.number, buffer.baseAddress!, limit, 0), 0)
        }
        return bytes.isEmpty ? nil : bytes
    }
}

extension PinnedProcess {
    private static let longestMounts = 512 * 1024
    private static let own: Set<Substring> = [
        "btrfs", "erofs", "ext2", "ext3", "ext4", "f2fs", "overlay", "squashfs", "tmpfs", "xfs",
        "zfs",
    ]

    /// nil where there is no such regular file of the process's user, or its file system is unknown. A
    /// file of another user's may be one that the process itself could not read, and has mounted there.
    package func openSandboxFile() -> SandboxFile? {
        guard let kind = fileSystem(of: "/" + SandboxFile.name), Self.own.contains(kind) else {
            return nil
        }
        return open(SandboxFile.name).map(SandboxFile.init)
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
        guard unsafe fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
            status.st_uid == credentials()?.realUser
        else { return nil }
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
