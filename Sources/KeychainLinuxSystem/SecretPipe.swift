// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import KeychainSecrets

/// A pipe with a secret in it, for a child to read.
package enum SecretPipe {
    /// The bytes that a pipe takes before any of them is read.
    package static let capacity = 64 * 1024

    /// Returns the reading end; the writing end is closed.
    package static func filled(with secret: borrowing SecretBytes) throws(SystemError) -> Descriptor
    {
        guard secret.count <= capacity else { throw .tooLarge }
        let (reading, writing) = try Descriptor.pipe()
        // Where the kernel gives this user smaller pipes, the write fails instead of blocking.
        _ = fcntl(writing.number, F_SETFL, O_NONBLOCK)
        let count = withExtendedLifetime(writing) {
            secret.withBytes { bytes in
                // Safe: writes the borrowed bytes.
                unsafe bytes.withUnsafeBytes {
                    unsafe write(writing.number, $0.baseAddress, $0.count)
                }
            }
        }
        guard count == secret.count else { throw .tooLarge }
        return reading
    }
}
