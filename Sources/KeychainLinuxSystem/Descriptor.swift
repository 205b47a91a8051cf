// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// Owns a file descriptor and closes it at the end.
package final class Descriptor: Sendable {
    package let number: Int32
    private let closing: (@Sendable (Int32) -> Void)?

    package init(owning number: Int32) {
        self.number = number
        closing = nil
    }

    /// `closing` replaces close(2), where that could take as long as another process likes.
    package init(owning number: Int32, closing: @escaping @Sendable (Int32) -> Void) {
        self.number = number
        self.closing = closing
    }

    /// The size of the file in bytes.
    package func size() throws(SystemError) -> UInt64 {
        let end = lseek(number, 0, SEEK_END)
        guard end >= 0 else { throw .system(errno) }
        return UInt64(end)
    }

    deinit {
        if let closing { closing(number) } else { close(number) }
    }
}
