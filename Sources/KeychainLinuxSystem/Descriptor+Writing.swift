// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import KeychainSecrets

extension Descriptor {
    /// Makes a new file with no access for other users.
    package static func creating(_ path: String) throws(SystemError) -> Descriptor {
        // Safe: the descriptor is closed by its owner.
        let number = unsafe open(
            path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw .system(errno) }
        return Descriptor(owning: number)
    }

    /// Writes all of the bytes, however long that takes.
    package func write(_ contents: borrowing SecretBytes) throws(SystemError) {
        try contents.withBytes { bytes throws(SystemError) in try write(bytes) }
    }

    package func write(_ bytes: [UInt8]) throws(SystemError) {
        // Safe: the bytes of an array.
        try unsafe write(bytes.span.bytes)
    }

    package func write(_ bytes: RawSpan) throws(SystemError) {
        var written = 0
        while written < bytes.byteCount {
            let rest = bytes.extracting(written..<bytes.byteCount)
            // Safe: writes the borrowed bytes.
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.write(number, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .system(errno) }
            written += count
        }
    }

    package func sync() throws(SystemError) {
        guard fsync(number) == 0 else { throw .system(errno) }
    }

    /// Makes a write to a pipe without a reader an error from now on, instead of the end of the
    /// process.
    package static func ignoreBrokenPipes() { signal(SIGPIPE, SIG_IGN) }
}
