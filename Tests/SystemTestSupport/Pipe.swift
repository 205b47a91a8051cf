// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import KeychainLinuxSystem

package enum Pipe {
    package static func make() throws -> (reads: Descriptor, writes: Descriptor) {
        var numbers: [Int32] = [-1, -1]
        guard unsafe pipe(&numbers) == 0 else { throw SystemError.system(errno) }
        for number in numbers { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
        return (Descriptor(owning: numbers[0]), Descriptor(owning: numbers[1]))
    }

    /// Returns the bytes of a single read.
    package static func read(_ descriptor: Descriptor, _ limit: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: limit)
        let count = unsafe Glibc.read(descriptor.number, &bytes, limit)
        return Array(bytes.prefix(max(count, 0)))
    }

    /// Reads until the last writer has closed its end.
    package static func text(_ descriptor: Descriptor) -> String {
        var all: [UInt8] = []
        while case let more = read(descriptor, 4096), !more.isEmpty { all += more }
        return String(decoding: all, as: UTF8.self)
    }
}
