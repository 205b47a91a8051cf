// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainLinuxSystem
internal import KeychainSecrets
internal import Synchronization

/// Digests of the programs that ask, for policies that name them so. A program is read once for as
/// long as it is not written to.
final class ExecutableDigests: Sendable {
    /// What is longer is not read: its digest is unknown.
    private static let longest = 256 << 20
    private static let mostKept = 256

    private let known = Mutex<[OpenedExecutable.Version: String]>([:])

    /// As policies write it; nil where it can't be told.
    func digest(of process: PinnedProcess) -> String? {
        guard let file = process.openExecutable(), let version = file.version,
            version.size <= Self.longest
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
