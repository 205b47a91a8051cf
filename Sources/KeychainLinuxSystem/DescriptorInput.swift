// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// Bytes that another process writes, read field by field: until a deadline, and up to a number of
/// bytes. An end in the middle of a field is an error.
package final class DescriptorInput {
    private let descriptor: Descriptor
    private let deadline: BootTime
    private var buffer = [UInt8](repeating: 0, count: 64 * 1024)
    /// The bytes that were read and not taken yet.
    private var left = 0..<0
    /// The bytes that the other process may still write.
    private var rest: UInt64

    package init(
        _ descriptor: Descriptor, atMost most: UInt64, until deadline: BootTime
    ) {
        self.descriptor = descriptor
        self.rest = most
        self.deadline = deadline
    }

    package func byte() throws(SystemError) -> UInt8 {
        if left.isEmpty { try fill() }
        defer { left = left.dropFirst() }
        return buffer[left.lowerBound]
    }

    /// Reads eight bytes, little-endian.
    package func number() throws(SystemError) -> UInt64 {
        var number: UInt64 = 0
        for place in 0..<8 { number |= UInt64(try byte()) << (8 * UInt64(place)) }
        return number
    }

    /// Reads four bytes of count, then that many bytes.
    package func bytes(atMost most: Int) throws(SystemError) -> [UInt8] {
        var count = 0
        for place in 0..<4 { count |= Int(try byte()) << (8 * place) }
        guard count <= most else { throw .tooLarge }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        while bytes.count < count {
            if left.isEmpty { try fill() }
            let taken = left.prefix(count - bytes.count)
            bytes += buffer[taken]
            left = left.dropFirst(taken.count)
        }
        return bytes
    }

    private func fill() throws(SystemError) {
        while true {
            try Wait.until(Wait.input, descriptor.number, deadline: deadline)
            // Safe: at most the array's length.
            let count = unsafe buffer.withUnsafeMutableBytes {
                unsafe read(descriptor.number, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system(errno) }
            guard count > 0 else { throw .malformed }
            guard UInt64(count) <= rest else { throw .tooLarge }
            rest -= UInt64(count)
            left = 0..<count
            return
        }
    }
}
