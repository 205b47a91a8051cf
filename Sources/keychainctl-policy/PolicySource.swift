// SPDX-License-Identifier: Apache-2.0
internal import KeychainCommands
internal import KeychainLinuxSystem
internal import PolicySyntax

/// A policy file from the command line.
enum PolicySource {
    private static let limit = 1 << 20

    static func read(_ path: String) throws(CommandFailure) -> SourceFile {
        do throws(SystemError) {
            let file = try FileContents(reading: path, limit: limit, followingLinks: true)
            guard file.kind == .regular else { throw .malformed }
            return SourceFile(path: path, bytes: file.bytes)
        } catch {
            throw CommandFailure(
                .failure, name: "unreadable", "could not read \(path)",
                advice: "Is it a file that you may read?")
        }
    }
}
