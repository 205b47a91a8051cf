// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainPolicyEngine
internal import KeychainSecrets

/// The last usable policies, for a start at which the present files are unusable: in compiled form,
/// and as the files that they were made of. Every user may read the files, and only root may write
/// them; the compiler, which runs as `_keychain-policy`, compiles them again where the compiled form
/// can't be used.
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
        (0..<mostLevels).map { "\(sources)/\($0)" }.filter { FileStatus($0) != nil }
    }

    /// A failure to keep policies is ignored: a full disk must not refuse a policy. What is kept
    /// already is not written again: each start loads the policies, and on a full disk there is no
    /// room for a second copy.
    func keep(_ bundle: PolicyBundle) {
        let new = bundle.withoutSources.bytes
        if KernelFile.read(compiled, limit: new.count + 1) != new {
            PrivateFile.remove(compiled)
            try? PrivateFile.create(compiled, contents: SecretBytes(copying: new))
        }
        // A process that was killed left them.
        for path in [incoming, outgoing] { FolderNames.remove(path) }
        if !hasSources(bundle.sources) { replaceSources(with: bundle.sources) }
    }

    private var incoming: String { sources + ".new" }
    private var outgoing: String { sources + ".old" }

    private func hasSources(_ files: [PolicyBundle.Source]) -> Bool {
        let kept = folders.reduce(0) { $0 + FolderNames.all(in: $1).count }
        return kept == files.count
            && files.allSatisfy { file in
                let path = "\(sources)/\(file.level)/\(file.name)"
                return (KernelFile.read(path, limit: file.bytes.count + 1) ?? []) == file.bytes
            }
    }

    /// A part of the files would be another policy. So a process that ends here leaves all the
    /// old ones, all the new ones, or none.
    private func replaceSources(with files: [PolicyBundle.Source]) {
        do { try write(files, in: incoming) } catch { FolderNames.remove(incoming) }
        try? PrivateFile.publish(sources, as: outgoing, replacing: true)
        try? PrivateFile.publish(incoming, as: sources, replacing: true)
        FolderNames.remove(outgoing)
    }

    private func write(
        _ files: [PolicyBundle.Source], in parent: String
    ) throws(SystemError) {
        guard files.allSatisfy(isWritable) else { return }
        for file in files {
            let folder = "\(parent)/\(file.level)"
            for path in [parent, folder] { try PrivateFile.folder(path, mode: 0o755) }
            let path = folder + "/" + file.name
            let written = try PieceFile(creating: path)
            try written.write(file.bytes, at: 0)
            guard FileStatus.setMode(0o644, of: path) else { throw .notPrivate }
            try written.sync()
            try PrivateFile.sync(folderOf: path)
        }
    }

    /// Whether the name is safe as a part of a path: it comes from a process that reads foreign
    /// files.
    private func isWritable(_ file: PolicyBundle.Source) -> Bool {
        file.level < mostLevels && file.name.hasSuffix(".yaml") && file.name.utf8.count <= 255
            && !file.name.utf8.contains { $0 == UInt8(ascii: "/") || $0 == 0 }
    }
}
