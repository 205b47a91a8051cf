// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The output of a child that writes all of it and ends.
package struct ChildOutput: Sendable {
    /// nil when the child was ended at the deadline.
    package let status: ExitStatus?
    package let bytes: [UInt8]

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
        let deadline = BootTime.now + .seconds(deadlineSeconds)
        bytes = try ours.contents(limit: limit, until: deadline)
        status = child.wait(deadlineSeconds: Double(deadline.nanoseconds(since: .now)) / 1e9)
    }

    /// Starts the child. Afterwards only the child holds the writing end, so that the pipe ends
    /// when the child does.
    private static func start(
        _ executable: String, _ arguments: [String], _ theirs: Descriptor
    ) throws(SystemError) -> ChildProcess {
        try ChildProcess(
            executable: executable, arguments: arguments, environment: [],
            passing: [(source: theirs.number, target: DescriptorOutput.descriptor)],
            newSession: true)
    }
}
