// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// A file that is only appended to, whichever process writes.
package final class GrowingFile: Sendable {
    private let descriptor: Descriptor

    /// Opens the file, or makes it with no access for other users.
    package init(_ path: String) throws(SystemError) {
        // Safe: the descriptor is closed by its owner.
        let number = unsafe open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw .system(errno) }
        descriptor = Descriptor(owning: number)
    }

    /// Makes a new file; throws `PrivateFile.exists` where anything has the name, even a link.
    package init(new path: String) throws(SystemError) {
        // Safe: the descriptor is closed by its owner.
        let number = unsafe open(
            path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw .system(errno) }
        descriptor = Descriptor(owning: number)
    }

    package func size() throws(SystemError) -> Int {
        var status = stat()
        // Safe: the structure is this function's own.
        guard unsafe fstat(descriptor.number, &status) == 0 else { throw .system(errno) }
        return Int(status.st_size)
    }

    package func append(_ bytes: [UInt8]) throws(SystemError) {
        var done = 0
        while done < bytes.count {
            let left = done
            // Safe: writes what is left of the array.
            let written = unsafe bytes.withUnsafeBytes {
                unsafe write(descriptor.number, $0.baseAddress! + left, $0.count - left)
            }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { throw .system(errno) }
            done += written
        }
    }
}
