// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// Small files in which the kernel reports facts.
package enum KernelFile {
    /// At most `limit` bytes from the beginning; nil when it can't be read.
    package static func read(_ path: String, limit: Int) -> [UInt8]? {
        // Safe: the descriptor is closed on every path, the buffer has `limit` bytes.
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var length = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, written in
            while written < limit {
                let count = unsafe Glibc.read(
                    descriptor, buffer.baseAddress! + written, limit - written)
                if count <= 0 { break }
                written += count
            }
            length = written
        }
        return length > 0 ? bytes : nil
    }
}
