// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem

/// Lines appended to a file, which is moved aside when it has grown long. The file beside it keeps
/// each user's newest lines up to that user's share, so that no user's lines push another's out. A
/// full disk loses lines, never answers.
struct AuditFile {
    static let longest = 16 * 1024 * 1024

    private let path: String
    /// The most bytes of the current file, and of the one beside it.
    private let longest: Int
    private var file: GrowingFile?

    init(_ path: String, longest: Int = Self.longest) {
        self.path = path
        self.longest = longest
    }

    mutating func append(_ line: [UInt8]) {
        guard let file = file ?? (try? GrowingFile(path)), let size = try? file.size() else {
            return
        }
        self.file = file
        // The file is twice as long as it should be: moving it aside has failed before.
        guard size < 2 * longest else { return moveAside() }
        try? file.append(line)
        if size + line.count > longest { moveAside() }
    }

    /// An interruption leaves lines twice, and loses none.
    private mutating func moveAside() {
        let (beside, new) = (path + ".1", path + ".new")
        let older = (try? content(beside)) ?? []
        guard let written = try? content(path) else { return }
        let kept = AuditShares(lines: older + written).kept(within: longest)
        do throws(SystemError) {
            FolderNames.remove(new)
            let copy = try PieceFile(creating: new)
            try copy.write(kept, at: 0)
            try copy.sync()
            try PrivateFile.publish(new, as: beside, replacing: true)
        } catch { return }
        FolderNames.remove(path)
        file = nil
    }

    /// Neither file is longer than `2 * longest` and one line.
    private func content(_ path: String) throws(SystemError) -> [UInt8] {
        try FileContents(reading: path, limit: 4 * longest, followingLinks: true).bytes
    }
}
