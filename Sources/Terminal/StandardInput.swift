// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import KeychainSecrets

/// Secrets that another program pipes in.
package enum StandardInput {
    package static var isTerminal: Bool { isatty(STDIN_FILENO) == 1 }
    private static let pieceBytes = 64 * 1024

    /// Waits for input that is no secret and returns it; nil at the end, or where it can't be read.
    package static func piece() -> [UInt8]? {
        while true {
            var count = 0
            // Safe: the kernel writes at most the buffer's length.
            let piece = unsafe [UInt8](unsafeUninitializedCapacity: pieceBytes) { buffer, written in
                count = unsafe Glibc.read(STDIN_FILENO, buffer.baseAddress!, pieceBytes)
                written = max(count, 0)
            }
            if count > 0 { return piece }
            guard count < 0, errno == EINTR else { return nil }
        }
    }

    /// Whether input, or its end, is there within the time.
    package static func isReady(withinMilliseconds patience: Int32) -> Bool {
        var item = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        // Safe: one element, which is this function's own.
        return unsafe poll(&item, 1, patience) > 0
    }

    /// The whole input, byte for byte, directly into locked memory.
    package static func read(limit: Int) throws(TerminalError) -> SecretBytes {
        var pieces: [HeldSecret] = []
        var total = 0
        var size = 4096
        while true {
            // One byte beyond the limit shows that there is more input.
            let piece = try fill(min(size, limit + 1 - total))
            total += piece.count
            guard total <= limit else { throw .tooLong }
            let isLast = piece.count < min(size, limit + 1 - (total - piece.count))
            pieces.append(HeldSecret(piece))
            if isLast { return joined(pieces, total) }
            size = min(size * 2, 8 * 1024 * 1024)
        }
    }

    private static func joined(_ pieces: [HeldSecret], _ total: Int) -> SecretBytes {
        var writer = SecretWriter(capacity: total)
        for piece in pieces { writer.append(piece.bytes) }
        return writer.finish()
    }

    /// Reads until the memory is full, or the input ends.
    private static func fill(_ size: Int) throws(TerminalError) -> SecretBytes {
        var length = 0
        let piece = try SecretBytes(count: size) {
            (span: inout MutableRawSpan) throws(TerminalError) in
            // Safe: never beyond the span's end.
            try unsafe span.withUnsafeMutableBytes { buffer throws(TerminalError) in
                while length < size {
                    let count = unsafe Glibc.read(
                        STDIN_FILENO, buffer.baseAddress! + length, size - length)
                    if count == 0 { return }
                    if count < 0, errno != EINTR { throw TerminalError.system(errno) }
                    length += max(count, 0)
                }
            }
        }
        return length == size ? piece : piece.part(0..<length)
    }
}
