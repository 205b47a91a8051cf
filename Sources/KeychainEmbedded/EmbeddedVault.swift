// SPDX-License-Identifier: Apache-2.0
internal import KeychainVaults
internal import KeychainKernelKeyring
internal import KeychainModel
internal import KeychainItemStore
internal import KeychainSecrets
internal import Synchronization

/// Class keys without a daemon: one key per keychain in the user's own part of the kernel's
/// keyring, which every program of the user can read; in this process's locked memory where the
/// kernel refuses.
///
/// A keychain without a password has no locked state: the device key opens it.
final class EmbeddedVault: KeyVault {
    private let protectors: Protectors
    private let own = Mutex<[String: HeldSecret]>([:])
    let usesKernelKeyring = KernelKeyring.isAvailable()
    let vaultKeyPlace: ServiceStatus.VaultKeyPlace? = nil
    let locks = LockCounts()

    init(protectors: Protectors) { self.protectors = protectors }

    func waitForPendingUnlocks(of user: UInt32) {}

    func keys(of keychain: OpenKeychain) throws(RequestError) -> ClassKeys {
        if try !isProtected(keychain) {
            let unlocked = try deviceKeys(keychain)
            return ClassKeys(
                always: try always(keychain), afterFirstUnlock: unlocked.afterFirstUnlock.copy(),
                whileUnlocked: unlocked.whileUnlocked.copy())
        }
        return ClassKeys(
            always: try always(keychain), afterFirstUnlock: kept(.afterFirstUnlock, keychain),
            whileUnlocked: kept(.whileUnlocked, keychain))
    }

    func keep(
        _ unlocked: borrowing UnlockedKeys, of keychain: OpenKeychain, for caller: Caller,
        since begun: LockGeneration
    ) throws(RequestError) {
        let both = unlocked.afterFirstUnlock.bytes.appending(unlocked.whileUnlocked.bytes)
        try locks.keep(keychain.id, since: begun) { () throws(RequestError) in
            try write(both, keychain)
        }
    }

    func unlocks(of keychain: OpenKeychain) -> Unlocks {
        // Read before the keys are looked up, so that a lock in between ends the unlock.
        let moment = locks.now(keychain.id)
        guard let isProtected = try? isProtected(keychain), isProtected else {
            return Unlocks(source: .device, moment: moment)
        }
        let isOpen = kept(.whileUnlocked, keychain) != nil
        return Unlocks(source: isOpen ? .user : .logins([]), moment: moment)
    }

    /// Checks the keys too: another process may have locked the keychain, which this one's counts
    /// don't show.
    func lasts(
        _ unlocks: Unlocks, of keychain: OpenKeychain, for availability: Accessibility.Availability
    ) -> Bool {
        let now = locks.now(keychain.id)
        guard now.isSameUnlessLocked(unlocks.moment) else { return false }
        if unlocks.source == .device { return true }
        switch availability {
        case .always: return true
        case .afterFirstUnlock: return kept(.afterFirstUnlock, keychain) != nil
        case .whileUnlocked:
            return now == unlocks.moment && unlocks.source == .user
                && kept(.whileUnlocked, keychain) != nil
        }
    }

    /// Embedded mode knows no logins.
    func renewal(of keychain: OpenKeychain) -> PasswordKeys? { nil }

    func isOutOfStep(_ keychain: OpenKeychain) -> Bool { false }

    func endRenewal(of keychain: OpenKeychain) {}

    func lock(_ keychain: OpenKeychain) throws(RequestError) {
        try locks.lock(keychain.id) { () throws(RequestError) in
            let first = KeyBundle.byteCount(.afterFirstUnlock)
            guard let bytes = read(keychain), bytes.count > first else { return }
            try write(bytes.part(0..<first), keychain)
        }
    }

    func forget(_ keychain: OpenKeychain) throws(RequestError) {
        let isProtected = try isProtected(keychain)
        try locks.forget(keychain.id) { () throws(RequestError) in
            own.withLock { own in
                own["always:" + keychain.path] = nil
                own["device:" + keychain.path] = nil
            }
            guard isProtected else { return }
            guard usesKernelKeyring else {
                return own.withLock { $0[name(keychain)] = nil }
            }
            guard let key = try? KernelKeyring.find(name(keychain), in: .userKeyring) else {
                return
            }
            do { try KernelKeyring.unlink(key, from: .userKeyring) } catch {
                throw .failed(.notAvailable)
            }
        }
    }

    /// Without a daemon no process would lock the keychain.
    func apply(_ settings: KeychainSettings, to keychain: OpenKeychain) throws(RequestError) {
        throw .invalid(.notImplemented)
    }

    func inForce(_ settings: KeychainSettings) -> KeychainSettings? { nil }

    func lockState(of keychain: OpenKeychain) -> KeychainStatus.LockState {
        guard let isProtected = try? isProtected(keychain), isProtected else { return .unlocked }
        if kept(.whileUnlocked, keychain) != nil { return .unlocked }
        return kept(.afterFirstUnlock, keychain) != nil ? .lockedAfterFirstUnlock : .locked
    }

    func lockReason(of keychain: OpenKeychain, for caller: Caller) -> LockReason { .none }

    func knowsSession(of caller: Caller) -> Bool { true }

    // MARK: Storing keys

    private func isProtected(_ keychain: OpenKeychain) throws(RequestError) -> Bool {
        do { return try keychain.file.isPasswordProtected() } catch { throw RequestError(error) }
    }

    private func always(_ keychain: OpenKeychain) throws(RequestError) -> KeyBundle {
        let name = "always:" + keychain.path
        if let held = own.withLock({ $0[name] }),
            let bundle = try? KeyBundle(.always, held.bytes.copy())
        {
            return bundle
        }
        let bundle = try protectors.alwaysKeys(keychain)
        own.withLock { $0[name] = HeldSecret(bundle.bytes.copy()) }
        return bundle
    }

    /// The device key opens an unprotected keychain; the result is kept, so that a process does it
    /// once.
    private func deviceKeys(_ keychain: OpenKeychain) throws(RequestError) -> UnlockedKeys {
        let name = "device:" + keychain.path
        let firstCount = KeyBundle.byteCount(.afterFirstUnlock)
        if let held = own.withLock({ $0[name] }),
            let first = try? KeyBundle(
                .afterFirstUnlock, held.bytes.part(0..<firstCount)),
            let second = try? KeyBundle(
                .whileUnlocked, held.bytes.part(firstCount..<held.bytes.count))
        {
            return UnlockedKeys(whileUnlocked: second, afterFirstUnlock: first)
        }
        let unlocked = try protectors.unlockWithDevice(keychain)
        let both = unlocked.afterFirstUnlock.bytes.appending(unlocked.whileUnlocked.bytes)
        own.withLock { $0[name] = HeldSecret(both.copy()) }
        return unlocked
    }

    /// The after-first-unlock bundle comes first, followed by the other while the keychain is
    /// unlocked.
    private func kept(_ kind: KeyBundle.Kind, _ keychain: OpenKeychain) -> KeyBundle? {
        guard let bytes = read(keychain) else { return nil }
        let first = KeyBundle.byteCount(.afterFirstUnlock)
        let range = kind == .afterFirstUnlock ? 0..<first : first..<bytes.count
        guard bytes.count >= first, !range.isEmpty else { return nil }
        return try? KeyBundle(kind, bytes.part(range))
    }

    private func name(_ keychain: OpenKeychain) -> String {
        "keychain:" + keychain.file.identifier.hexadecimal
    }

    private func read(_ keychain: OpenKeychain) -> SecretBytes? {
        guard usesKernelKeyring else {
            return own.withLock { $0[name(keychain)] }?.bytes.copy()
        }
        guard let key = try? KernelKeyring.find(name(keychain), in: .userKeyring) else {
            return nil
        }
        return try? KernelKeyring.read(key)
    }

    private func write(
        _ bytes: borrowing SecretBytes, _ keychain: OpenKeychain
    ) throws(RequestError) {
        guard usesKernelKeyring else {
            let held = HeldSecret(bytes.copy())
            own.withLock { $0[name(keychain)] = held }
            return
        }
        do {
            _ = try KernelKeyring.add(
                name(keychain), bytes, in: .userKeyring, permissions: 0x3f3f_0000,
                timeoutSeconds: nil)
        } catch { throw .failed(.notAvailable) }
    }
}
