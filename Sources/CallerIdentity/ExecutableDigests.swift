// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainLinuxSystem
internal import KeychainSecrets
internal import Synchronization

/// Digests of the programs that make requests, for policies that identify programs so. A file is
/// read once, until it is written to.
final class ExecutableDigests: Sendable {
    /// Longer files are not read: their digest is unknown.
    private static let longest = 256 << 20
    private static let mostKept = 256

    private let known = Mutex<[OpenedExecutable.Version: String]>([:])

    /// The digest as policies write it; nil where the file can't be read, and where the process runs
    /// another one than it was known by.
    func digest(
        of process: PinnedProcess, running program: ProgramLook, _ looks: any ProcessLooks
    ) -> String? {
        guard let executable = program.executable, let file = looks.openExecutable(of: process),
            let version = file.version, version.size <= Self.longest,
            version.device == executable.device, version.inode == executable.inode
        else { return nil }
        if let digest = known.withLock({ $0[version] }) { return digest }
        var hash = SHA256()
        let isWhole = file.read(upTo: Self.longest) { hash.update($0) }
        let bytes = hash.digest()
        guard isWhole, file.version == version else { return nil }
        let digest = "sha256:" + bytes.hexadecimal
        known.withLock { known in
            if known.count >= Self.mostKept { known.removeAll() }
            known[version] = digest
        }
        return digest
    }
}
