// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import KeychainLinuxSystem

/// Lines at the end of a file, which is moved aside when it has grown long. The file beside it keeps
/// each user's newest lines up to that user's share, so that no user's lines push another's out. A
/// full disk loses lines, never answers.
struct AuditFile {
    static let longest = 16 * 1024 * 1024

    private let path: String
    /// Bytes of the file that is written to, and of the one beside it.
    private let longest: Int
    private var file: FileHandle?

    init(_ path: String, longest: Int = Self.longest) {
        self.path = path
        self.longest = longest
    }

    mutating func append(_ line: Data) {
        guard let file = file ?? open(), let size = try? file.offset() else { return }
        self.file = file
        // Moving aside has failed for as long.
        guard size < UInt64(2 * longest) else { return moveAside() }
        try? file.write(contentsOf: line)
        if size + UInt64(line.count) > UInt64(longest) { moveAside() }
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

    /// Where this is interrupted lines are there twice, and none is lost.
    private mutating func moveAside() {
        let manager = FileManager.default
        let (beside, new) = (path + ".1", path + ".new")
        let older = manager.contents(atPath: beside) ?? Data()
        guard let written = manager.contents(atPath: path) else { return }
        let kept = AuditShares(lines: older + written).kept(within: longest)
        do {
            try? manager.removeItem(atPath: new)
            let copy = try PieceFile(creating: new)
            try copy.write(kept, at: 0)
            try copy.sync()
            try PrivateFile.publish(new, as: beside, replacing: true)
            try manager.removeItem(atPath: path)
        } catch { return }
        try? file?.close()
        file = nil
    }
}
