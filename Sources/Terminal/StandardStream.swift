// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import KeychainSecrets

/// Standard output and standard error.
package enum StandardStream: Int32, Sendable {
    case output = 1
    case error = 2

    package var isTerminal: Bool { isatty(rawValue) == 1 }

    /// Returns false where the reader has gone or the disk is full.
    @discardableResult
    package func write(_ text: String) -> Bool { Self.write(Array(text.utf8), to: rawValue) }

    /// Writes a secret from locked memory, because its user asked to see it.
    @discardableResult
    package func release(_ secret: borrowing SecretBytes) -> Bool {
        secret.withBytes { bytes in
            // Safe: the secret's bytes are borrowed until they are written.
            unsafe bytes.withUnsafeBytes { unsafe Self.write($0, to: rawValue) }
        }
    }

    @discardableResult
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        // Safe: the array outlives the call.
        unsafe bytes.withUnsafeBytes { unsafe write($0, to: descriptor) }
    }

    static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        var written = 0
        while written < bytes.count {
            // Safe: never beyond the buffer's end.
            let count = unsafe Glibc.write(
                descriptor, bytes.baseAddress! + written, bytes.count - written)
            if count > 0 { written += count } else if errno != EINTR { return false }
        }
        return true
    }
}
