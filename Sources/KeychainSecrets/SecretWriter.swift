// SPDX-License-Identifier: Apache-2.0

/// Assembles a secret piece by piece, in locked memory of a size known beforehand.
package struct SecretWriter: ~Copyable {
    private var bytes: SecretBytes
    private var written = 0

    package init(capacity: Int) {
        bytes = SecretBytes(count: capacity) { (_: inout MutableRawSpan) in }
    }

    /// Appends a piece. All pieces together must not be longer than the capacity.
    package mutating func append(_ piece: borrowing SecretBytes) {
        precondition(piece.count <= bytes.count - written)
        let start = written
        piece.withBytes { source in
            bytes.withMutableBytes { target in
                // Safe: the range was checked above.
                unsafe target.withUnsafeMutableBytes { target in
                    unsafe source.withUnsafeBytes {
                        unsafe UnsafeMutableRawBufferPointer(rebasing: target[start...])
                            .copyMemory(from: $0)
                    }
                }
            }
        }
        written += piece.count
    }

    /// Appends one byte, for which there must be room.
    package mutating func append(_ byte: UInt8) {
        precondition(written < bytes.count)
        let place = written
        bytes.withMutableBytes { $0.storeBytes(of: byte, toByteOffset: place, as: UInt8.self) }
        written += 1
    }

    /// The written bytes, even if they are fewer than the capacity.
    package consuming func finish() -> SecretBytes {
        written == bytes.count ? bytes : bytes.part(0..<written)
    }
}
