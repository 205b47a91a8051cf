// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import KeychainSecrets

/// A pipe or socket that another process has passed to have a secret written to it. That process
/// may fill it, not read it, or change its flags, none of which must block this process.
package struct PassedOutput: Sendable {
    private static let longestLink = 64

    private let descriptor: Descriptor
    private let isSocket: Bool

    /// nil for anything but a writable pipe or a local stream socket. The link in `/proc` tells
    /// which it is: querying a file itself may wait for its file system.
    package init?(_ passed: Descriptor) {
        let link = Self.link(of: passed)
        if link.hasPrefix("socket:[") {
            guard Self.option(SO_DOMAIN, of: passed) == AF_UNIX,
                Self.option(SO_TYPE, of: passed) == Int32(SOCK_STREAM.rawValue)
            else { return nil }
            descriptor = passed
            isSocket = true
        } else {
            guard link.hasPrefix("pipe:["), let own = Self.opened(passed) else { return nil }
            descriptor = own
            isSocket = false
        }
    }

    /// The pipe opened anew, with flags that no other process can change.
    private static func opened(_ pipe: Descriptor) -> Descriptor? {
        guard fcntl(pipe.number, F_GETFL) & O_ACCMODE != O_RDONLY else { return nil }
        let flags = O_WRONLY | O_NONBLOCK | O_CLOEXEC
        // Safe: the descriptor is closed by its owner.
        let number = unsafe open("/proc/self/fd/\(pipe.number)", flags)
        return number < 0 ? nil : Descriptor(owning: number)
    }

    private static func link(of descriptor: Descriptor) -> String {
        var text = [UInt8](repeating: 0, count: longestLink)
        // Safe: writes at most the array's length.
        let count = unsafe text.withUnsafeMutableBytes {
            unsafe readlink("/proc/self/fd/\(descriptor.number)", $0.baseAddress!, $0.count)
        }
        return String(decoding: text.prefix(max(0, count)), as: UTF8.self)
    }

    private static func option(_ option: Int32, of socket: Descriptor) -> Int32? {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        // Safe: writes at most the number's size.
        let result = unsafe getsockopt(socket.number, SOL_SOCKET, option, &value, &length)
        return result == 0 ? value : nil
    }

    /// Writes all of the secret, or throws. `ignoreBrokenPipes` must be called before.
    package func write(
        _ secret: borrowing SecretBytes, until deadline: BootTime
    ) throws(SystemError) {
        try secret.withBytes { bytes throws(SystemError) in
            var written = 0
            while written < bytes.byteCount {
                let count = write(bytes.extracting(written..<bytes.byteCount))
                if count > 0 {
                    written += count
                } else if errno == EAGAIN {
                    try Wait.until(Int32(POLLOUT), descriptor.number, deadline: deadline)
                } else if errno != EINTR {
                    throw .system(errno)
                }
            }
        }
    }

    private func write(_ bytes: RawSpan) -> Int {
        // Safe: reads the borrowed bytes.
        unsafe bytes.withUnsafeBytes { bytes in
            isSocket
                ? unsafe send(
                    descriptor.number, bytes.baseAddress, bytes.count,
                    Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
                : unsafe Glibc.write(descriptor.number, bytes.baseAddress, bytes.count)
        }
    }
}
