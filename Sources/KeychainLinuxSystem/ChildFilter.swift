// SPDX-License-Identifier: Apache-2.0
internal import Glibc
package import KeychainSecrets

/// Runs a child that reads its standard input to the end, writes its answer to standard output and
/// ends. Both may be secret.
package enum ChildFilter {
    package enum Input: Sendable {
        case file(String)
        case bytes([UInt8])
    }

    /// Runs the program without a terminal and without an environment. Throws where it fails or
    /// writes more than `limit` bytes.
    package static func answer(
        of executable: String, _ arguments: [String], to input: Input, limit: Int,
        deadlineSeconds: Double
    ) throws(SystemError) -> SecretBytes {
        let given = try descriptor(of: input)
        var ends: [Int32] = [-1, -1]
        // Safe: the array has room for both ends.
        guard unsafe pipe(&ends) == 0 else { throw .system(errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let ours = Descriptor(owning: ends[0])
        let child = try start(executable, arguments, given, Descriptor(owning: ends[1]))
        let deadline = BootTime.now + .seconds(deadlineSeconds)
        let answer = try read(ours, limit, deadline)
        guard child.wait(deadlineSeconds: deadlineSeconds)?.isSuccess == true else {
            throw .malformed
        }
        return answer
    }

    private static func descriptor(of input: Input) throws(SystemError) -> Descriptor {
        switch input {
        case .file(let path):
            // Safe: the descriptor is closed by its owner.
            let number = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
            guard number >= 0 else { throw .system(errno) }
            return Descriptor(owning: number)
        case .bytes(let bytes):
            let memory = try SealedMemory.make("question", contents: SecretBytes(copying: bytes))
            guard lseek(memory.number, 0, SEEK_SET) == 0 else { throw .system(errno) }
            return memory
        }
    }

    /// Starts the child. Afterwards only the child holds the writing end, so that the pipe ends
    /// when the child does.
    private static func start(
        _ executable: String, _ arguments: [String], _ input: Descriptor, _ output: Descriptor
    ) throws(SystemError) -> ChildProcess {
        try ChildProcess(
            executable: executable, arguments: arguments, environment: [],
            passing: [(source: input.number, target: 0), (source: output.number, target: 1)],
            newSession: true)
    }

    private static func read(
        _ descriptor: Descriptor, _ limit: Int, _ deadline: BootTime
    ) throws(SystemError) -> SecretBytes {
        var pieces: [HeldSecret] = []
        var total = 0
        while true {
            var count = 0
            let piece = try SecretBytes(count: 64 * 1024) {
                (span: inout MutableRawSpan) throws(SystemError) in
                try Wait.until(POLLIN, descriptor.number, deadline: deadline)
                // Safe: reads at most the span's length.
                count = unsafe span.withUnsafeMutableBytes {
                    unsafe Glibc.read(descriptor.number, $0.baseAddress, $0.count)
                }
                guard count >= 0 || errno == EINTR else { throw .system(errno) }
            }
            if count == 0 { return joined(pieces, total) }
            guard count > 0 else { continue }
            total += count
            guard total <= limit else { throw .tooLarge }
            pieces.append(HeldSecret(piece.part(0..<count)))
        }
    }

    private static func joined(_ pieces: [HeldSecret], _ total: Int) -> SecretBytes {
        var writer = SecretWriter(capacity: total)
        for piece in pieces { writer.append(piece.bytes) }
        return writer.finish()
    }
}
