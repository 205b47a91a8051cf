// SPDX-License-Identifier: Apache-2.0
public import LocalSocket
public import Secrets

/// A key that is random at each boot, under which everything lies that the kernel's keyring holds:
/// another process of root may read the keyring, and has nothing.
///
/// It lives in a 0600 file in a 0700 folder of the runtime folder, so that a restarted daemon finds
/// it; the file names the boot it belongs to.
public enum VaultKey {
    private static let bootBytes = 36

    /// `folder` must not survive a reboot; where it does, the boot's name tells.
    public static func load(folder: String) throws(SocketError) -> SealingKey {
        let path = folder + "/vault-key"
        let boot = try currentBoot()
        try PrivateFile.folder(folder, mode: 0o700)
        if let kept = try? PrivateFile.read(path, limit: bootBytes + SealingKey.byteCount),
            kept.count == bootBytes + SealingKey.byteCount,
            kept.part(0..<bootBytes).matches(boot)
        {
            return SealingKey(kept.part(bootBytes..<kept.count))
        }
        PrivateFile.remove(path)
        let key = SecretBytes(random: SealingKey.byteCount)
        try PrivateFile.create(path, contents: boot.appending(key))
        return SealingKey(key)
    }

    private static func currentBoot() throws(SocketError) -> SecretBytes {
        guard let boot = KernelFile.read("/proc/sys/kernel/random/boot_id", limit: bootBytes),
            boot.count == bootBytes
        else { throw .system(0) }
        return SecretBytes(copying: boot)
    }
}
