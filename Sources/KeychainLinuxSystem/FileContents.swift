// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// A file that any user may have written, with the kernel's facts about it; both of one descriptor.
package struct FileContents: Sendable {
    package enum Kind: Sendable { case regular, null, other }

    package let kind: Kind
    package let owner: UInt32
    package let mode: UInt32
    package let links: UInt64
    /// At most one byte more than the limit, which shows a longer file.
    package let bytes: [UInt8]

    /// Never blocks, whatever the path leads to.
    package init(
        reading path: String, limit: Int, followingLinks: Bool
    ) throws(SystemError) {
        let follow = followingLinks ? 0 : O_NOFOLLOW
        // Safe: the descriptor is closed by its owner.
        let number = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | follow)
        guard number >= 0 else { throw .system(errno) }
        let descriptor = Descriptor(owning: number)
        var status = stat()
        // Safe: the structure is this function's own.
        guard unsafe fstat(descriptor.number, &status) == 0 else { throw .system(errno) }
        owner = status.st_uid
        mode = status.st_mode & 0o7777
        links = UInt64(status.st_nlink)
        switch status.st_mode & S_IFMT {
        case S_IFREG: kind = .regular
        case S_IFCHR where status.st_rdev == Self.nullDevice: kind = .null
        default: kind = .other
        }
        bytes = kind == .regular ? try Self.read(descriptor, limit: limit + 1) : []
    }

    /// Character device 1:3.
    private static let nullDevice: dev_t = 0x103

    private static func read(
        _ descriptor: Descriptor, limit: Int
    ) throws(SystemError) -> [UInt8] {
        var contents: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 * 1024)
        while contents.count < limit {
            let wanted = min(piece.count, limit - contents.count)
            // Safe: at most the array's length.
            let count = unsafe piece.withUnsafeMutableBytes {
                unsafe Glibc.read(descriptor.number, $0.baseAddress, wanted)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system(errno) }
            if count == 0 { break }
            contents += piece[..<count]
        }
        return contents
    }

    /// nil where a folder and all its ancestors belong to root, are no links, and no other user can
    /// write to them; else the first that fails.
    package static func untrustedFolder(from path: String) -> String? {
        var path = path
        while true {
            var status = stat()
            // Safe: the structure is this function's own.
            guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
                status.st_uid == 0, status.st_mode & (S_IWGRP | S_IWOTH) == 0
            else { return path }
            guard path != "/", let slash = path.lastIndex(of: "/") else { return nil }
            path = slash == path.startIndex ? "/" : String(path[..<slash])
        }
    }
}
