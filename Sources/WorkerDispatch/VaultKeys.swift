// SPDX-License-Identifier: Apache-2.0
package import KeychainLinuxSystem
internal import KeychainModel
internal import KeychainSecrets
internal import LoginManager
internal import Synchronization
internal import WorkerHandoff

/// The vault keys of all users, between runs of their workers and of keychaind, and no longer than
/// the boot. keychaind reads one only to write it to a file, where no service manager stores it.
///
/// Under systemd the service manager stores a descriptor of each. Otherwise they are in 0600 files in
/// a 0700 folder of the runtime folder; a file names the boot that it belongs to.
package final class VaultKeys: Sendable {
    struct Stored: Sendable {
        let memory: Descriptor
        let place: ServiceStatus.VaultKeyPlace
    }

    package static let name = "vault-key-"
    private static let keyBytes = 32
    private static let bootBytes = 36

    private let folder: String
    private let stored: Mutex<[UInt32: Stored]>

    /// `inherited` is what the service manager passed, by name.
    package init(
        inherited: [(name: String, descriptor: Int32)], folder: String
    ) throws(SystemError) {
        self.folder = folder
        try PrivateFile.folder(folder, mode: 0o700)
        var found: [UInt32: Stored] = [:]
        for (name, number) in inherited {
            guard let user = Self.user(of: name) else { continue }
            found[user] = Stored(memory: Descriptor(owning: number), place: .descriptorStore)
        }
        for file in FolderNames.all(in: folder) {
            guard let user = Self.user(of: file) else { continue }
            let path = folder + "/" + file
            guard found[user] == nil, let key = Self.inFile(path),
                let memory = try? Self.memory(of: key)
            else {
                PrivateFile.remove(path)
                continue
            }
            // A service manager that was not there before may be there now.
            let isTaken = ServiceNotification.store(descriptor: memory.number, named: file)
            if isTaken { PrivateFile.remove(path) }
            found[user] = Stored(memory: memory, place: isTaken ? .descriptorStore : .file)
        }
        stored = Mutex(found)
    }

    /// Users whose keychains may be open.
    package var users: Set<UInt32> { stored.withLock { Set($0.keys) } }

    func key(of user: UInt32) -> Stored? { stored.withLock { $0[user] } }

    /// Replaces the user's key. Returns nil where it can be stored nowhere.
    func keep(_ memory: Descriptor, of user: UInt32) -> ServiceStatus.VaultKeyPlace? {
        // A file of another kind may keep its closing waiting, and all workers with it.
        guard SealedMemory.read(memory, count: Self.keyBytes) != nil else { return nil }
        return stored.withLock { stored in
            stored[user] = nil
            guard let place = store(memory, user) else { return nil }
            stored[user] = Stored(memory: memory, place: place)
            return place
        }
    }

    private func store(_ memory: Descriptor, _ user: UInt32) -> ServiceStatus.VaultKeyPlace? {
        PrivateFile.remove(path(user))
        if ServiceNotification.store(descriptor: memory.number, named: Self.name + "\(user)") {
            return .descriptorStore
        }
        guard let key = SealedMemory.read(memory, count: Self.keyBytes),
            let boot = Self.currentBoot()
        else { return nil }
        let contents = boot.appending(key)
        return (try? PrivateFile.create(path(user), contents: contents)) == nil ? nil : .file
    }

    /// Takes the user's key from all places that it is in.
    func forget(_ user: UInt32) {
        let old = stored.withLock { stored in
            ServiceNotification.forget(descriptorNamed: Self.name + "\(user)")
            PrivateFile.remove(path(user))
            return stored.removeValue(forKey: user)
        }
        withExtendedLifetime(old) {}
    }

    private func path(_ user: UInt32) -> String { folder + "/" + Self.name + "\(user)" }

    private static func user(of name: String) -> UInt32? {
        name.hasPrefix(self.name) ? UInt32(name.dropFirst(self.name.count)) : nil
    }

    private static func memory(of key: borrowing SecretBytes) throws(SystemError) -> Descriptor {
        try SealedMemory.make("keychain:vault-key", contents: key)
    }

    /// nil for a file of another boot.
    private static func inFile(_ path: String) -> SecretBytes? {
        guard let boot = currentBoot(),
            let kept = try? PrivateFile.read(path, limit: bootBytes + keyBytes),
            kept.count == bootBytes + keyBytes, kept.part(0..<bootBytes).matches(boot)
        else { return nil }
        return kept.part(bootBytes..<kept.count)
    }

    private static func currentBoot() -> SecretBytes? {
        guard let boot = KernelFile.read("/proc/sys/kernel/random/boot_id", limit: bootBytes),
            boot.count == bootBytes
        else { return nil }
        return SecretBytes(copying: boot)
    }
}
