// SPDX-License-Identifier: Apache-2.0

/// For secrets that arrive piece by piece.
extension SecretBytes {
    /// This memory, with `other`, which is not longer, at its beginning.
    package consuming func beginning(with other: borrowing SecretBytes) -> SecretBytes {
        replace(at: 0, with: other, from: 0, count: other.count)
        return self
    }

    /// A copy that is longer, zero at its end.
    package borrowing func padded(to count: Int) -> SecretBytes {
        SecretBytes(count: count) { (_: inout MutableRawSpan) in }.beginning(with: self)
    }

    package mutating func replace(
        at start: Int, with other: borrowing SecretBytes, from: Int, count: Int
    ) {
        precondition(start + count <= self.count)
        other.withBytes { source in
            let piece = source.extracting(from..<from + count)
            withMutableBytes { target in
                // Safe: the range was checked above; two secrets never share memory.
                unsafe target.withUnsafeMutableBytes { target in
                    unsafe piece.withUnsafeBytes {
                        unsafe UnsafeMutableRawBufferPointer(
                            rebasing: target[start..<start + count]
                        ).copyMemory(from: $0)
                    }
                }
            }
        }
    }
}

/// For secrets that are made of other bytes.
extension SecretBytes {
    /// Puts another byte in each one's place.
    package mutating func replace(_ other: (UInt8) -> UInt8) {
        withMutableBytes { target in
            // Safe: stays within the span's own bytes.
            unsafe target.withUnsafeMutableBytes { bytes in
                for index in bytes.indices { unsafe bytes[index] = other(bytes[index]) }
            }
        }
    }
}
