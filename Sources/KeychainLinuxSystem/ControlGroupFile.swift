// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The control groups of one process, kept open: the file stays that process's, tells where the
/// process is at each look, and nothing once it has ended.
package final class ControlGroupFile: Sendable {
    /// Bytes of it that are read.
    static let limit = 4096

    private let file: Descriptor

    init(_ file: Descriptor) { self.file = file }

    /// The lines; nil where they can't be read.
    package func lines() -> [UInt8]? {
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Self.limit) { buffer, written in
            // Safe: the kernel writes at most the buffer's length.
            written = unsafe max(pread(file.number, buffer.baseAddress!, Self.limit, 0), 0)
        }
        return bytes.isEmpty ? nil : bytes
    }

    /// Whether the lines are these now.
    package func holds(_ lines: [UInt8]) -> Bool {
        // One more than is expected, by which longer lines differ.
        let most = min(lines.count + 1, Self.limit)
        // Safe: the kernel writes at most the buffer's length, and only what it wrote is read.
        return unsafe withUnsafeTemporaryAllocation(byteCount: most, alignment: 1) { buffer in
            let count = unsafe pread(file.number, buffer.baseAddress!, most, 0)
            guard count == lines.count else { return false }
            return unsafe lines.elementsEqual(buffer[0..<count])
        }
    }
}
