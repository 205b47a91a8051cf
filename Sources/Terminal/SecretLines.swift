// SPDX-License-Identifier: Apache-2.0
package import KeychainSecrets

extension SecretBytes {
    /// The secret's lines, without their ends. A line end at the very end begins no further line.
    package borrowing func lines() -> [HeldSecret] {
        var starts = [0]
        withBytes { bytes in
            // Safe: the offsets are those of the span.
            for offset in bytes.byteOffsets
            where unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self) == 0x0A {
                starts.append(offset + 1)
            }
        }
        if starts.last != count { starts.append(count + 1) }
        return zip(starts, starts.dropFirst()).map { HeldSecret(part($0..<$1 - 1)) }
    }
}
