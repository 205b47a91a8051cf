// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import KeychainSecrets

/// The input from another program or a file, read piece by piece into locked memory.
package struct SecretInput: Sendable {
    package static let standard = SecretInput(number: STDIN_FILENO, owner: nil)
    private static let pieceBytes = 64 * 1024

    private let number: Int32
    private let owner: Descriptor?

    private init(number: Int32, owner: Descriptor?) {
        self.number = number
        self.owner = owner
    }

    package init(_ descriptor: Descriptor) {
        self.init(number: descriptor.number, owner: descriptor)
    }

    /// The next bytes, at most 64 KiB; empty at the end.
    package func next() throws(SystemError) -> SecretBytes {
        var count = 0
        let piece = try SecretBytes(count: Self.pieceBytes) {
            (span: inout MutableRawSpan) throws(SystemError) in
            repeat {
                // Safe: reads at most the span's length.
                count = unsafe span.withUnsafeMutableBytes {
                    unsafe Glibc.read(number, $0.baseAddress, $0.count)
                }
            } while count < 0 && errno == EINTR
            guard count >= 0 else { throw .system(errno) }
        }
        return piece.part(0..<count)
    }
}
