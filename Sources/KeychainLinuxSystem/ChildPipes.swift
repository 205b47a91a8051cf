// SPDX-License-Identifier: Apache-2.0
internal import Glibc

extension Descriptor {
    /// Opens a regular file of any owner; never blocks, whatever the path leads to.
    package static func reading(_ path: String) throws(SystemError) -> Descriptor {
        // Safe: the descriptor is closed by its owner.
        let number = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard number >= 0 else { throw .system(errno) }
        let descriptor = Descriptor(owning: number)
        var status = stat()
        // Safe: the structure is this function's own.
        guard unsafe fstat(number, &status) == 0 else { throw .system(errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .malformed }
        return descriptor
    }

    /// The ends of a new pipe, which no child inherits unless they are passed.
    package static func pipe() throws(SystemError) -> (reading: Descriptor, writing: Descriptor) {
        var ends: [Int32] = [-1, -1]
        // Safe: the array has room for both ends.
        guard unsafe Glibc.pipe(&ends) == 0 else { throw .system(errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (Descriptor(owning: ends[0]), Descriptor(owning: ends[1]))
    }

    /// All bytes up to the end, which comes when the last writer has closed a pipe. Throws
    /// `.tooLarge` for more than `limit` bytes.
    package func contents(
        limit: Int, until deadline: BootTime
    ) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            try Wait.until(POLLIN, number, deadline: deadline)
            // Safe: reads at most the array's length.
            let count = unsafe piece.withUnsafeMutableBytes {
                unsafe Glibc.read(number, $0.baseAddress, $0.count)
            }
            if count == 0 { return bytes }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .system(errno) }
            bytes += piece.prefix(count)
            guard bytes.count <= limit else { throw .tooLarge }
        }
    }
}

extension ChildProcess {
    /// A child that reads `input`, writes to `output`, and gets the other given descriptors. It
    /// shares this process's remaining standard descriptors only if it also shares its terminal.
    package static func between(
        _ input: Descriptor?, _ output: Descriptor?,
        passing others: [(source: Descriptor, target: Int32)] = [],
        executable: String, arguments: [String], environment: [String], newSession: Bool
    ) throws(SystemError) -> ChildProcess {
        let ends: [(source: Descriptor?, target: Int32)] =
            [(input, 0), (output, 1)] + others.map { ($0.source, $0.target) }
        return try withExtendedLifetime(ends) { () throws(SystemError) in
            try ChildProcess(
                executable: executable, arguments: arguments, environment: environment,
                passing: ends.compactMap { source, target in
                    source.map { (source: $0.number, target: target) }
                },
                newSession: newSession)
        }
    }
}
