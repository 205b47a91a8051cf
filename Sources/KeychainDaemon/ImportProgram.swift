// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainRows

/// Reads keychain files from elsewhere through `keychain-import`: one process per file, which has
/// that file, no rights and no key, and ends with the file.
struct ImportProgram: ForeignReader {
    private static let seconds: UInt64 = 30
    /// A long file gets one second more for each so many bytes.
    private static let bytesInSecond: UInt64 = 8 * 1024 * 1024

    let path: String
    let log: @Sendable (String) -> Void

    func read(_ file: Descriptor, _ body: (ForeignRecord) throws -> Void) throws {
        let size = try file.size()
        let seconds = Self.seconds + size / Self.bytesInSecond
        let (child, output) = try start(file, seconds)
        let input = DescriptorInput(
            output, atMost: RowReader.mostBytes(ofFile: size),
            until: .now + .seconds(Int64(clamping: seconds)))
        do { try RowReader(from: input).forEach(body) } catch let error as SystemError {
            child.kill()
            log("keychain-import did not read a file of \(size) bytes to its end (\(error))")
            throw ForeignFileError.damaged
        }
    }

    /// Starts the child. Afterwards the child alone holds the writing end of the pipe, so that the
    /// pipe ends when the child does.
    private func start(
        _ file: Descriptor, _ seconds: UInt64
    ) throws(SystemError) -> (ChildProcess, Descriptor) {
        let (ours, theirs) = try Descriptor.pipe()
        let child = try ChildProcess.between(
            file, theirs, executable: path, arguments: [String(seconds)],
            environment: ["SWIFT_BACKTRACE=enable=no"], newSession: true)
        return (child, ours)
    }
}
