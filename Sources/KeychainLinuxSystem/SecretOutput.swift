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

    /// A new file, or one that is there already and made empty; never one that a link leads to.
    package init(_ path: String) throws(SystemError) {
        // Safe: the descriptor is closed by its owner.
        let opened = unsafe open(
            path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW, 0o600)
        guard opened >= 0 else { throw .system(errno) }
        self.init(number: opened, file: Descriptor(owning: opened))
    }

    package func write(_ text: String) {
        Array(text.utf8).withSpan { write($0) }
    }

    /// With a line's end.
    package func write(line secret: borrowing SecretBytes) {
        secret.withBytes { write($0) }
        write("\n")
    }

    package func write(_ secret: borrowing SecretBytes) { secret.withBytes { write($0) } }

    private func write(_ bytes: RawSpan) {
        // Safe: writes the borrowed bytes.
        unsafe bytes.withUnsafeBytes { buffer in
            var written = 0
            while written < buffer.count {
                let count = unsafe Glibc.write(
                    number, buffer.baseAddress! + written, buffer.count - written)
                if count > 0 { written += count } else if errno != EINTR { return }
            }
        }
    }
}
