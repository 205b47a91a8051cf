// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem

/// Held by the one worker of a user, as a lock on the user's folder. The worker of a keychaind that was
/// killed may still end while the next one begins.
struct WorkerTurn {
    private static let patience: Duration = .seconds(10)

    private let folder: Descriptor

    /// Waits for the end of an earlier worker.
    init(of user: UInt32, in stateFolder: String) throws(SystemError) {
        let path = "\(stateFolder)/\(user)"
        // keychain-starter has made it, unless this process has root's number.
        try PrivateFile.folder(path, mode: 0o700)
        folder = try Descriptor.ofFolder(path)
        try folder.lock(patience: Self.patience)
    }
}
