// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// A file that is written or read piece by piece. Not for a database in use: closing the file here
/// would drop SQLite's locks on it.
package final class PieceFile: Sendable {
    package let path: String
    private let descriptor: Descriptor

    /// Makes a new file with no access for other users.
    package init(creating path: String) throws(SystemError) {
        self.path = path
        // Safe: a new file of our own.
        let number = unsafe open(
            path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw .system(errno) }
        descriptor = Descriptor(owning: number)
    }

    /// Opens an existing file; never blocks, whatever the path leads to.
    package init(reading path: String) throws(SystemError) {
        self.path = path
        // Safe: the descriptor is closed by its owner.
        let number = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard number >= 0 else { throw .system(errno) }
        descriptor = Descriptor(owning: number)
        var status = stat()
        // Safe: the structure is this function's own.
        guard unsafe fstat(number, &status) == 0 else { throw .system(errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .malformed }
    }

    package func size() throws(SystemError) -> UInt64 {
        var status = stat()
        // Safe: as above.
        guard unsafe fstat(descriptor.number, &status) == 0 else { throw .system(errno) }
        return UInt64(status.st_size)
    }

    /// Returns fewer bytes than `count` only at the file's end.
    package func read(at offset: UInt64, count: Int) throws(SystemError) -> [UInt8] {
        guard let start = Int(exactly: offset) else { throw .tooLarge }
        var piece = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let left = done
            // Safe: at most what is left of the array.
            let read = unsafe piece.withUnsafeMutableBytes {
                unsafe pread(
                    descriptor.number, $0.baseAddress! + left, $0.count - left, start + left)
            }
            if read < 0, errno == EINTR { continue }
            guard read >= 0 else { throw .system(errno) }
            if read == 0 { break }
            done += read
        }
        piece.removeLast(count - done)
        return piece
    }

    /// Writes all of the bytes at that offset.
    package func write(_ bytes: [UInt8], at offset: UInt64) throws(SystemError) {
        guard let start = Int(exactly: offset) else { throw .tooLarge }
        var done = 0
        while done < bytes.count {
            let left = done
            // Safe: writes what is left of the array.
            let written = unsafe bytes.withUnsafeBytes {
                unsafe pwrite(
                    descriptor.number, $0.baseAddress! + left, $0.count - left, start + left)
            }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw .system(errno) }
            done += written
        }
    }

    package func sync() throws(SystemError) {
        guard fsync(descriptor.number) == 0 else { throw .system(errno) }
    }
}
