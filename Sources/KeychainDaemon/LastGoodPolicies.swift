// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainPolicyEngine
internal import KeychainSecrets

/// The last usable policies, for a start at which the present files are unusable: in compiled form,
/// and as the files that they were made of. Every user may read the files, and only root may write
/// them; the compiler, which runs as `nobody`, compiles them again where the compiled form can't be
/// used.
struct LastGoodPolicies: Sendable {
    private let compiled: String
    private let sources: String
    private let mostLevels: Int

    init(stateFolder: String, mostLevels: Int) {
        compiled = stateFolder + "/policy.last-good"
        sources = stateFolder + "/policy.sources"
        self.mostLevels = mostLevels
    }

    /// nil where there is no compiled form, or it is cut off, altered or of another version.
    var bundle: PolicyBundle? {
        guard let kept = try? PrivateFile.read(compiled, limit: PolicyBundle.mostBytes)
        else { return nil }
        return try? PolicyBundle(bytes: kept.releasedFromLockedMemory())
    }

    /// The folders with the kept files, the vendor's first.
    var folders: [String] {
        (0..<mostLevels).map(folder).filter { FileStatus($0) != nil }
    }

    private func folder(_ level: Int) -> String { "\(sources)/\(level)" }

    /// A failure to keep policies is ignored: a full disk must not refuse a policy.
    func keep(_ bundle: PolicyBundle) {
        PrivateFile.remove(compiled)
        try? PrivateFile.create(
            compiled, contents: SecretBytes(copying: bundle.withoutSources.bytes))
        FolderNames.remove(sources)
        do { try write(bundle.sources) } catch {
            // A part of the files would be another policy.
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

    /// Whether the name is safe as a part of a path: it comes from a process that reads foreign
    /// files.
    private func isWritable(_ file: PolicyBundle.Source) -> Bool {
        file.level < mostLevels && file.name.hasSuffix(".yaml") && file.name.utf8.count <= 255
            && !file.name.utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
    }
}
