// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import KeychainSecrets

/// Standard input line by line. No byte after a line's end is read, as it belongs to another
/// reader.
package enum InputLines {
    private static let longest = 64 * 1024

    /// nil at the end of the input. Invalid UTF-8 is repaired. A line that is too long is skipped,
    /// and the next one is returned.
    package static func next() throws(TerminalError) -> String? {
        guard let line = try read(passesOver: true) else { return nil }
        return line.withBytes { bytes in
            String(decoding: (0..<bytes.byteCount).map { bytes.byte($0) }, as: UTF8.self)
        }
    }

    /// The line in locked memory; nil at the end of the input, or where it is too long.
    package static func secret() -> SecretBytes? { (try? read(passesOver: true)) ?? nil }

    /// The line in locked memory; nil at the end of the input. After a line that is too long
    /// nothing more may be read, since its rest is still there.
    package static func secretLine() throws(TerminalError) -> SecretBytes? {
        try read(passesOver: false)
    }

    private static func read(passesOver: Bool) throws(TerminalError) -> SecretBytes? {
        var length = 0
        var hasEnded = false
        let line = SecretBytes(count: longest) { (span: inout MutableRawSpan) in
            // Safe: never beyond the span's end.
            unsafe span.withUnsafeMutableBytes { buffer in
                while length < longest {
                    let count = unsafe Glibc.read(STDIN_FILENO, buffer.baseAddress! + length, 1)
                    if count < 0, errno == EINTR { continue }
                    guard count == 1 else {
                        hasEnded = true
                        return
                    }
                    if unsafe buffer[length] == 0x0A { return }
                    length += 1
                }
            }
        }
        if hasEnded, length == 0 { return nil }
        guard length < longest else {
            if passesOver { passOver() }
            throw .tooLong
        }
        return line.part(0..<length)
    }

    private static func passOver() {
        var byte: UInt8 = 0
        while byte != 0x0A {
            // Safe: one byte, which is this function's own.
            let count = unsafe Glibc.read(STDIN_FILENO, &byte, 1)
            guard count == 1 || (count < 0 && errno == EINTR) else { return }
        }
    }
}
