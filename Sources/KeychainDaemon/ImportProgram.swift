// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainRows
internal import ProgramHandoff

/// Reads keychain files from elsewhere through `keychain-import`: one process per file, which has
/// that file, no rights and no key, and ends with the file.
struct ImportProgram: ForeignReader {
    private static let seconds: UInt64 = 30
    /// A long file gets one second more for each so many bytes.
    private static let bytesInSecond: UInt64 = 8 * 1024 * 1024

    let starter: any ProgramStarter
    /// The user whose keychain the file becomes.
    let user: UInt32
    let log: @Sendable (String) -> Void

    func read(_ file: Descriptor, _ body: (ForeignRecord) throws -> Void) throws {
        let size = try file.size()
        let seconds = UInt32(clamping: Self.seconds + size / Self.bytesInSecond)
        let (running, output) = try start(file, seconds)
        defer { running.end() }
        let input = DescriptorInput(
            output, atMost: RowReader.mostBytes(ofFile: size),
            until: .now + .seconds(Int64(seconds)))
        do { try RowReader(from: input).forEach(body) } catch let error as SystemError {
            log("keychain-import did not read a file of \(size) bytes to its end (\(error))")
            throw ForeignFileError.damaged
        }
    }

    /// Starts the program. Afterwards the program alone holds the writing end of the pipe, so that
    /// the pipe ends when the program does.
    private func start(
        _ file: Descriptor, _ seconds: UInt32
    ) throws -> (any RunningProgram, Descriptor) {
        let (ours, theirs) = try Descriptor.pipe()
        let running = try starter.start(
            .keychainFile(seconds: seconds, user: user), passing: [file, theirs])
        return (running, ours)
    }
}
