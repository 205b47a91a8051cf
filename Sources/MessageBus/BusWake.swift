// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import KeychainLinuxSystem

/// Lets any thread end the wait of the thread with the connection.
package final class BusWake: Sendable {
    private let reading: Descriptor
    private let writing: Descriptor

    /// nil where the process has no descriptor left.
    package init?() {
        guard let (reading, writing) = try? Descriptor.pipe() else { return nil }
        self.reading = reading
        self.writing = writing
        for end in [reading, writing] { _ = fcntl(end.number, F_SETFL, O_NONBLOCK) }
    }

    var number: Int32 { reading.number }

    package func wake() {
        var byte: UInt8 = 0
        // Safe: reads the one byte. Where the pipe is full, the other thread is woken already.
        _ = unsafe write(writing.number, &byte, 1)
    }

    func clear() {
        var bytes = [UInt8](repeating: 0, count: 64)
        // Safe: writes at most the array's length.
        _ = unsafe read(number, &bytes, bytes.count)
    }
}
