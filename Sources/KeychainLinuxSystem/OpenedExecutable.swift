// SPDX-License-Identifier: Apache-2.0
internal import CKeychainLinux
internal import Glibc

/// The file that a process runs, opened, whatever its path names by now.
package struct OpenedExecutable: Sendable {
    /// Equal as long as the file is not written to.
    package struct Version: Sendable, Hashable {
        package let size: Int
        package let device: UInt64
        package let inode: UInt64
        let written: [Int]
    }

    package let descriptor: Descriptor

    package init(_ descriptor: Descriptor) { self.descriptor = descriptor }

    /// nil for anything but a regular file.
    package var version: Version? {
        var status = stat()
        // Safe: the structure is this function's own.
        guard unsafe fstat(descriptor.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG
        else { return nil }
        return Version(
            size: Int(status.st_size), device: UInt64(status.st_dev),
            inode: UInt64(status.st_ino),
            written: [
                status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec,
                status.st_ctim.tv_nsec,
            ])
    }

    /// Whether a process gets rights by running the file (setuid, setgid, capabilities); true also
    /// where that can't be told.
    var givesRights: Bool { kc_gives_rights(descriptor.number) != 0 }

    /// Whether a process with these credentials has the rights that the file gives: its user where
    /// it is setuid, its group where it is setgid, and some capability where it bears any. False
    /// also where that can't be told.
    ///
    /// A process in a user namespace of its own may name any file as its executable (prctl(2),
    /// PR_SET_MM_MAP) for another one that shares its memory: with the name come no rights.
    func hasGivenItsRights(to process: ProcessCredentials) -> Bool {
        var status = stat()
        // Safe: the structure is this function's own.
        guard unsafe fstat(descriptor.number, &status) == 0 else { return false }
        let (givesUser, givesGroup) = (status.st_mode & S_ISUID != 0, status.st_mode & S_ISGID != 0)
        guard !givesUser || process.users.contains(status.st_uid),
            !givesGroup || process.groups.contains(status.st_gid)
        else { return false }
        return givesUser || givesGroup || process.hasCapabilities
    }

    /// Passes on the contents in order; false where they could not be read, or are longer than
    /// `limit`.
    package func read(upTo limit: Int, _ body: ([UInt8]) -> Void) -> Bool {
        var offset = 0
        var piece = [UInt8](repeating: 0, count: 256 * 1024)
        while offset <= limit {
            // Safe: reads at most the array's length.
            let count = unsafe piece.withUnsafeMutableBytes {
                unsafe pread(descriptor.number, $0.baseAddress, $0.count, offset)
            }
            if count == 0 { return true }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            body(count == piece.count ? piece : Array(piece.prefix(count)))
            offset += count
        }
        return false
    }
}
