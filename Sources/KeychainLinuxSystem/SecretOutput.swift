// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import KeychainSecrets

/// Standard output, or a file of its user's alone that secrets are written to.
package struct SecretOutput: Sendable {
    package static let standard = SecretOutput(number: STDOUT_FILENO, file: nil)

    private let number: Int32
    private let file: Descriptor?

    private init(number: Int32, file: Descriptor?) {
        self.number = number
        self.file = file
    }

    /// A new file, or the user's own that is there already: made empty, and closed to others before
    /// anything is in it. Never one that a link leads to, nor a pipe that would wait for a reader.
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

    /// With a line's end.
    package func write(line secret: borrowing SecretBytes) throws(SystemError) {
        try write(secret)
        try write("\n")
    }

    package func write(_ secret: borrowing SecretBytes) throws(SystemError) {
        try check(secret.withBytes { write($0) })
    }

    /// What is not all written is lost: a command must not say that it is there.
    private func check(_ error: Int32) throws(SystemError) {
        guard error == 0 else { throw .system(error) }
    }

    /// 0, or why the bytes could not all be written.
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
