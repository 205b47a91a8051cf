// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The end of a pipe that a child writes all of its output to.
package enum DescriptorOutput {
    static let descriptor: Int32 = 3

    package static func write(_ bytes: [UInt8]) throws(SystemError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            // Safe: writes the borrowed bytes.
            let count = unsafe rest.withUnsafeBytes {
                unsafe Glibc.write(Self.descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .system(errno) }
            rest = rest.dropFirst(count)
        }
    }
}
