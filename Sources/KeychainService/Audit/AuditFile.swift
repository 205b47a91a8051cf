// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// Lines at the end of a file, which is moved aside once when it has grown long. A full disk loses
/// lines, never answers.
struct AuditFile {
    private static let longest: UInt64 = 16 * 1024 * 1024

    private let path: String
    private var file: FileHandle?

    init(_ path: String) { self.path = path }

    mutating func append(_ line: Data) {
        guard let file = file ?? open() else { return }
        self.file = file
        try? file.write(contentsOf: line)
        if let size = try? file.offset(), size > Self.longest { moveAside() }
    }

    private func open() -> FileHandle? {
        let manager = FileManager.default
        if !manager.fileExists(atPath: path) {
            let made = manager.createFile(
                atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
            guard made else { return nil }
        }
        guard let file = FileHandle(forWritingAtPath: path) else { return nil }
        _ = try? file.seekToEnd()
        return file
    }

    private mutating func moveAside() {
        try? file?.close()
        file = nil
        try? FileManager.default.removeItem(atPath: path + ".1")
        try? FileManager.default.moveItem(atPath: path, toPath: path + ".1")
    }
}
