// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import KeychainSecrets

/// Standard output, or a file of the user's alone, for writing secrets.
package struct SecretOutput: Sendable {
    package static let standard = SecretOutput(number: STDOUT_FILENO, file: nil)

    private let number: Int32
    private let file: Descriptor?

    private init(number: Int32, file: Descriptor?) {
        self.number = number
        self.file = file
    }

    /// A new file, or an existing one of the user's: emptied, and closed to others before anything
    /// is written. Never the target of a link, nor a pipe that would wait for a reader.
    package init(_ path: String) throws(SystemError) {
        // Safe: the descriptor is closed by its owner.
        let opened = unsafe open(
            path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard opened >= 0 else { throw .system(errno) }
        let file = Descriptor(owning: opened)
        var facts = stat()
        // Safe: the structure is this function's own.
        guard unsafe fstat(opened, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG,
            facts.st_uid == geteuid(), fchmod(opened, 0o600) == 0, ftruncate(opened, 0) == 0
        else { throw .notPrivate }
        self.init(number: opened, file: file)
    }

    package func write(_ text: String) throws(SystemError) {
        try check(Array(text.utf8).withSpan { write($0) })
    }

    /// Writes the secret and a line end.
    package func write(line secret: borrowing SecretBytes) throws(SystemError) {
        try write(secret)
        try write("\n")
    }

    package func write(_ secret: borrowing SecretBytes) throws(SystemError) {
        try check(secret.withBytes { write($0) })
    }

    /// Throws where not all bytes were written: a command must not claim that they were.
    private func check(_ error: Int32) throws(SystemError) {
        guard error == 0 else { throw .system(error) }
    }

    /// Returns 0, or the error for which not all bytes could be written.
    private func write(_ bytes: RawSpan) -> Int32 {
        // Safe: writes the borrowed bytes.
        unsafe bytes.withUnsafeBytes { buffer in
            var written = 0
            while written < buffer.count {
                let count = unsafe Glibc.write(
                    number, buffer.baseAddress! + written, buffer.count - written)
                if count > 0 { written += count } else if errno != EINTR { return errno }
            }
            return 0
        }
    }
}
