// SPDX-License-Identifier: Apache-2.0
package import KeychainLinuxSystem
internal import KeychainModel
package import KeychainSecrets
internal import LoginManager
internal import Synchronization

/// A random key that seals everything in the kernel's keyring: another process of root may read the
/// keyring, but can't open it. It is made at the boot, and anew after each time that it was forgotten.
///
/// Under systemd the service manager stores the key as a descriptor between runs. Otherwise it is
/// in a 0600 file in a 0700 folder of the runtime folder; the file names the boot it belongs to.
package final class VaultKey: Sendable {
    /// The key, which a running request holds while another one forgets it.
    package final class Kept: Sendable {
        package let key: SealingKey
        /// nil where it could be stored in neither place: it is lost with this process then.
        let place: ServiceStatus.VaultKeyPlace?

        init(_ key: consuming SealingKey, _ place: ServiceStatus.VaultKeyPlace?) {
            self.key = key
            self.place = place
        }
    }

    private let folder: String
    /// Every request takes it.
    private let kept: ShortLock<Kept?>
    private let making = Mutex(())

    /// `kept` is the descriptor that the service manager returned. `folder` must not survive a
    /// reboot; the boot's name in the file shows where it does.
    package init(kept: Descriptor?, folder: String) throws(SystemError) {
        self.folder = folder
        self.kept = ShortLock(try Self.load(kept: kept, folder: folder))
    }

    /// nil where it was forgotten and not made anew: nothing is sealed then.
    package var present: Kept? { kept.withLock { $0 } }

    package var now: Kept {
        if let present { return present }
        return making.withLock { _ in
            if let kept = kept.withLock({ $0 }) { return kept }
            let new = (try? Self.load(kept: nil, folder: folder)) ?? Kept(.random(), nil)
            kept.withLock { $0 = new }
            return new
        }
    }

    /// Takes the key from all places that it is in. What it sealed opens no more.
    package func forget() {
        // Not while a new one is stored, which would stay there.
        let old = making.withLock { _ in
            ServiceNotification.forget(descriptorNamed: Self.name)
            PrivateFile.remove(Self.path(in: folder))
            return kept.withLock { kept in
                defer { kept = nil }
                return kept
            }
        }
        // Wiped after the lock is released.
        withExtendedLifetime(old) {}
    }

    /// The descriptor's name in the service manager.
    package static let name = "vault-key"
    private static let bootBytes = 36

    private static func path(in folder: String) -> String { folder + "/" + name }

    private static func load(kept: Descriptor?, folder: String) throws(SystemError) -> Kept {
        let path = path(in: folder)
        let boot = try currentBoot()
        if let kept, let key = SealedMemory.read(kept, count: SealingKey.byteCount) {
            PrivateFile.remove(path)
            return Kept(SealingKey(key), .descriptorStore)
        }
        try PrivateFile.folder(folder, mode: 0o700)
        let key = inFile(path, boot) ?? SealingKey.random()
        if handOver(key.bytes) {
            PrivateFile.remove(path)
            return Kept(key, .descriptorStore)
        }
        if inFile(path, boot) == nil {
            PrivateFile.remove(path)
            try PrivateFile.create(path, contents: boot.appending(key.bytes))
        }
        return Kept(key, .file)
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
