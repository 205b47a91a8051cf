// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainPolicyEngine
internal import KeychainSecrets

/// The last policies that could be used, for a start beside files that can't: compiled, and the
/// files that they were made of. Those are for everybody to read, as they were, and root's alone to
/// write to; the compiler, which runs as `nobody`, takes them again where the other can't be used.
struct LastGoodPolicies: Sendable {
    private let compiled: String
    private let sources: String
    private let mostLevels: Int

    init(stateFolder: String, mostLevels: Int) {
        compiled = stateFolder + "/policy.last-good"
        sources = stateFolder + "/policy.sources"
        self.mostLevels = mostLevels
    }

    /// nil where there is none, and for one that is cut off, altered or of another version.
    var parcel: PolicyBundle? {
        guard let kept = try? PrivateFile.read(compiled, limit: PolicyBundle.mostBytes)
        else { return nil }
        return try? PolicyBundle(bytes: kept.releasedFromLockedMemory())
    }

    /// The folders with the files, the vendor's first.
    var folders: [String] {
        (0..<mostLevels).map(folder).filter { FileStatus($0) != nil }
    }

    private func folder(_ level: Int) -> String { "\(sources)/\(level)" }

    /// What can't be kept is not: a full disk refuses no policy.
    func keep(_ parcel: PolicyBundle) {
        PrivateFile.remove(compiled)
        try? PrivateFile.create(
            compiled, contents: SecretBytes(copying: parcel.withoutSources.bytes))
        FolderNames.remove(sources)
        do { try write(parcel.sources) } catch {
            // A part of a set is another set.
            FolderNames.remove(sources)
        }
    }

    private func write(_ files: [PolicyBundle.Source]) throws(SystemError) {
        guard files.allSatisfy(isWritable) else { return }
        for file in files {
            let folder = folder(file.level)
            for path in [sources, folder] { try PrivateFile.folder(path, mode: 0o755) }
            let path = folder + "/" + file.name
            try PieceFile(creating: path).write(file.bytes, at: 0)
            guard FileStatus.setMode(0o644, of: path) else { throw .notPrivate }
        }
    }

    /// The names come from a process that reads what others wrote, and end up in a path.
    private func isWritable(_ file: PolicyBundle.Source) -> Bool {
        file.level < mostLevels && file.name.hasSuffix(".yaml") && file.name.utf8.count <= 255
            && !file.name.utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
    }
}
