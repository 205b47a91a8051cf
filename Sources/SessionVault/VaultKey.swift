// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
package import KeychainLinuxSystem
internal import LoginManager
internal import KeychainSecrets

/// A key that is random at each boot and seals everything in the kernel's keyring: another process
/// of root may read the keyring, but can't open it.
///
/// Under systemd the service manager stores the key as a descriptor between runs. Otherwise it is
/// in a 0600 file in a 0700 folder of the runtime folder; the file names the boot it belongs to.
package enum VaultKey {
    package struct Loaded: ~Copyable {
        let key: SealingKey
        let place: ServiceStatus.VaultKeyPlace
    }

    /// The descriptor's name in the service manager.
    package static let name = "vault-key"
    private static let bootBytes = 36

    /// `kept` is the descriptor that the service manager returned. `folder` must not survive a
    /// reboot; the boot's name in the file shows where it does.
    package static func load(
        kept: Descriptor?, folder: String
    ) throws(SystemError) -> Loaded {
        let path = folder + "/" + name
        let boot = try currentBoot()
        if let kept, let key = SealedMemory.read(kept, count: SealingKey.byteCount) {
            PrivateFile.remove(path)
            return Loaded(key: SealingKey(key), place: .descriptorStore)
        }
        try PrivateFile.folder(folder, mode: 0o700)
        let key = inFile(path, boot) ?? SealingKey.random()
        if handOver(key.bytes) {
            PrivateFile.remove(path)
            return Loaded(key: key, place: .descriptorStore)
        }
        if inFile(path, boot) == nil {
            PrivateFile.remove(path)
            try PrivateFile.create(path, contents: boot.appending(key.bytes))
        }
        return Loaded(key: key, place: .file)
    }

    /// Returns false where no service manager stores descriptors.
    private static func handOver(_ key: borrowing SecretBytes) -> Bool {
        guard let memory = try? SealedMemory.make("keychain:" + name, contents: key) else {
            return false
        }
        return ServiceNotification.store(descriptor: memory.number, named: name)
    }

    private static func inFile(_ path: String, _ boot: borrowing SecretBytes) -> SealingKey? {
        guard let kept = try? PrivateFile.read(path, limit: bootBytes + SealingKey.byteCount),
            kept.count == bootBytes + SealingKey.byteCount,
            kept.part(0..<bootBytes).matches(boot)
        else { return nil }
        return SealingKey(kept.part(bootBytes..<kept.count))
    }

    private static func currentBoot() throws(SystemError) -> SecretBytes {
        guard let boot = KernelFile.read("/proc/sys/kernel/random/boot_id", limit: bootBytes),
            boot.count == bootBytes
        else { throw .system(0) }
        return SecretBytes(copying: boot)
    }
}
