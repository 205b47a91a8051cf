// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The output of a child that writes all of it and ends.
package struct ChildOutput: Sendable {
    /// nil when the child was ended at the deadline.
    package let status: ExitStatus?
    package let bytes: [UInt8]

    /// The descriptor that the child writes to.
    package static let descriptor: Int32 = 3

    /// Runs the program without a terminal and without an environment. A program that writes more
    /// than `limit` bytes is ended, and its output is dropped.
    package init(
        of executable: String, _ arguments: [String], limit: Int, deadlineSeconds: Double
    ) throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        // Safe: the array has room for both ends.
        guard unsafe pipe(&ends) == 0 else { throw .system(errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let ours = Descriptor(owning: ends[0])
        let child = try Self.start(executable, arguments, Descriptor(owning: ends[1]))
        let deadline = ContinuousClock.now + .seconds(deadlineSeconds)
        bytes = try Self.read(ours, limit, deadline)
        status = child.wait(deadlineSeconds: max(0, Self.seconds(until: deadline)))
    }

    /// Starts the child. Afterwards only the child holds the writing end, so that the pipe ends
    /// when the child does.
    private static func start(
        _ executable: String, _ arguments: [String], _ theirs: Descriptor
    ) throws(SystemError) -> ChildProcess {
        try ChildProcess(
            executable: executable, arguments: arguments, environment: [],
            passing: [(source: theirs.number, target: descriptor)], newSession: true)
    }

    private static func read(
        _ descriptor: Descriptor, _ limit: Int, _ deadline: ContinuousClock.Instant
    ) throws(SystemError) -> [UInt8] {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            try Wait.until(POLLIN, descriptor.number, deadline: deadline)
            // Safe: reads at most the array's length.
            let count = unsafe piece.withUnsafeMutableBytes {
                unsafe Glibc.read(descriptor.number, $0.baseAddress, $0.count)
            }
            if count == 0 { return bytes }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .system(errno) }
            bytes += piece.prefix(count)
            guard bytes.count <= limit else { throw .tooLarge }
        }
    }

    private static func seconds(until deadline: ContinuousClock.Instant) -> Double {
        let left = ContinuousClock.now.duration(to: deadline)
        return Double(left.components.seconds) + Double(left.components.attoseconds) / 1e18
    }
}
