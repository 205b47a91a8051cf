// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import WorkerHandoff

/// Held by the one worker of a user. The worker of a keychaind that was killed may still end while the
/// next one begins.
struct WorkerTurn {
    private static let patience: Duration = .seconds(10)
    private let file: Descriptor

    /// Waits for the end of an earlier worker.
    init(of user: UInt32, in runtimeFolder: String) throws(SystemError) {
        let folder = runtimeFolder + "/" + ServiceFolder.private
        try PrivateFile.folder(folder, mode: 0o700)
        file = try Descriptor.locking(folder + "/worker-\(user)", patience: Self.patience)
    }
}
