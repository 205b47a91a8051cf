// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import KeychainSecrets

/// A user's file with a secret in it; other users may be able to read it.
package enum SecretFile {
    /// Reads all of it, directly into locked memory.
    package static func read(_ path: String, limit: Int) throws(SystemError) -> SecretBytes {
        // Safe: the descriptor is closed by its owner.
        let number = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard number >= 0 else { throw .system(errno) }
        let descriptor = Descriptor(owning: number)
        var pieces: [HeldSecret] = []
        var total = 0
        while true {
            var count = 0
            let piece = SecretBytes(count: 64 * 1024) { (span: inout MutableRawSpan) in
                // Safe: reads at most the span's length.
                count = unsafe span.withUnsafeMutableBytes {
                    unsafe Glibc.read(descriptor.number, $0.baseAddress, $0.count)
                }
            }
            guard count >= 0 else {
                guard errno == EINTR else { throw .system(errno) }
                continue
            }
            total += count
            guard total <= limit else { throw .tooLarge }
            if count == 0 { break }
            pieces.append(HeldSecret(piece.part(0..<count)))
        }
        var writer = SecretWriter(capacity: total)
        for piece in pieces { writer.append(piece.bytes) }
        return writer.finish()
    }
}
