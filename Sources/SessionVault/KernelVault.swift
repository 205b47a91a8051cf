// SPDX-License-Identifier: Apache-2.0
package import KeychainItemStore
package import KeychainModel
internal import KeychainSecrets
package import KeychainVaults
package import KeyringStore
package import LoginRegistry
internal import KeychainLinuxSystem

/// The daemon's vault: class keys in the kernel's keyring, sealed so that an unlock ends with the
/// login that made it. Between requests this process holds none of them except those that the
/// device key opens.
package final class KernelVault: KeyVault {
    package let keyring: DaemonKeyring
    package let sessions: SessionRegistry
    package let vaultKey: VaultKey
    let protectors: Protectors
    private let pending: PendingUnlocks
    package let systemOpening: SystemKeychainOpening
    let uses = IdleTracker()

    package let usesKernelKeyring = true
    package var vaultKeyPlace: ServiceStatus.VaultKeyPlace? { vaultKey.now.place }
    package let locks = LockCounts()
    let kept = KeptKeysOfAll()

    package init(
        keyring: DaemonKeyring, sessions: SessionRegistry, protectors: Protectors,
        vaultKey: VaultKey, pending: PendingUnlocks,
        bounds: KeychainSettings
    ) {
        self.keyring = keyring
        self.sessions = sessions
        self.vaultKey = vaultKey
        self.protectors = protectors
        self.pending = pending
        systemOpening = SystemKeychainOpening(protectors)
        bind(to: bounds)
    }

    /// Applies the administrator's bounds from now on.
    package func bind(to bounds: KeychainSettings) { uses.bind(to: bounds) }

    package func waitForPendingUnlocks(of user: UInt32) { pending.wait(for: user) }

    package func keys(of keychain: OpenKeychain) throws(RequestError) -> ClassKeys {
        try take(keychain, by: nil).keys()
    }

    package func take(
        _ keychain: OpenKeychain, by seen: LiveLogins?
    ) throws(RequestError) -> TakenKeys {
        // Read before the keyring: a lock in between then ends the unlocks.
        let moment = locks.now(keychain.id)
        if keychain.isSystem {
            return TakenKeys(
                try systemKeys(keychain), Unlocks(source: .device, moment: moment))
        }
        let keys = kept.keys(of: keychain)
        guard let vault = vaultKey.present else {
            let always = ClassKeys(
                always: try alwaysKeys(keychain, keys), afterFirstUnlock: nil, whileUnlocked: nil)
            return TakenKeys(always, Unlocks(source: .logins([]), moment: moment))
        }
        var unlocks: [SessionUnlock] = []
        let live = sessions.live(keychain.user, by: seen)
        let whileUnlocked = whileUnlockedKeys(keychain, keys, live, vault, isUse: true, &unlocks)
        let classKeys = ClassKeys(
            always: try alwaysKeys(keychain, keys),
            afterFirstUnlock: bundle(.afterFirstUnlock, keys.firstUnlock, keychain, vault),
            whileUnlocked: whileUnlocked)
        return TakenKeys(classKeys, Unlocks(source: .logins(unlocks), moment: moment))
    }

    package func keep(
        _ unlocked: borrowing UnlockedKeys, of keychain: OpenKeychain, for caller: Caller,
        since begun: LockGeneration
    ) throws(RequestError) {
        if keychain.isSystem { return try keepSystem(unlocked, keychain) }
        try keep(unlocked, of: keychain, in: try session(for: caller), since: begun)
    }

    /// The login that an unlock belongs to: the caller's own; else the user's latest; else, outside
    /// any login, the Unix session that the caller runs in.
    private func session(for caller: Caller) throws(RequestError) -> LoginSession {
        let live = sessions.live(caller.user)
        if let own = live.last(where: { $0.id == caller.session }) ?? live.last { return own }
        guard let process = PinnedProcess(pid: caller.process, pidfd: nil),
            let number = process.status()?.session,
            let leader = PinnedProcess(pid: number, pidfd: nil)
        else { throw .state(.noSession) }
        return try sessions.openWithoutTicket(user: caller.user, leader: leader)
    }

    package func keep(
        _ unlocked: borrowing UnlockedKeys, of keychain: OpenKeychain, in session: LoginSession,
        since begun: LockGeneration
    ) throws(RequestError) {
        let vault = vaultKey.now
        guard let sealing = sessionKey(session, vault) else { throw .state(.noSession) }
        let firstUnlock = kept.keys(of: keychain).firstUnlock
        let first = sealed(unlocked.afterFirstUnlock, firstUnlock, vault.key)
        // Settings that another program wrote must not shut the user out.
        let settings = try? keychain.file.settings(unlocked.whileUnlocked)
        let terms = AutoLockTerms(settings ?? .strictest, begun: .sinceBoot)
        let unlock = sealed(
            unlocked.whileUnlocked, unlockKey(session, keychain), sealing, terms)
        try locks.keep(keychain.id, since: begun) { () throws(RequestError) in
            makeRoomForFirstUnlock(firstUnlock.name, of: keychain.user)
            try keyring.write(firstUnlock.name, first, of: keychain.user)
            uses.begin(keychain.id, terms.tightened(by: uses.bounds))
            try write(unlock, session, keychain)
        }
        sessions.setLockReason(.none, of: session.id)
    }

    private func write(
        _ unlock: borrowing SecretBytes, _ session: LoginSession, _ keychain: OpenKeychain
    ) throws(RequestError) {
        let name = unlockKey(session, keychain).name
        try sessions.whileKnown(session) { () throws(RequestError) in
            makeRoom(for: name, .unlock, in: session)
            try keyring.write(name, unlock, of: keychain.user)
        }
    }

    /// Seals the keychain's present unlocks anew, with the settings.
    package func apply(_ settings: KeychainSettings, to keychain: OpenKeychain) throws(RequestError)
    {
        let begun = locks.now(keychain.id)
        for session in sessions.live(keychain.user) {
            let key = unlockKey(session, keychain)
            guard let kept = keyring.read(key.name, of: keychain.user),
                let old = AutoLockTerms(kept: kept),
                let sealing = sessionKey(session, vaultKey.now),
                let keys = opened(.whileUnlocked, kept, key, sealing, old)
            else { continue }
            let terms = AutoLockTerms(settings, begun: old.begun)
            let unlock = sealed(keys, key, sealing, terms)
            try locks.keep(keychain.id, since: begun) { () throws(RequestError) in
                uses.change(keychain.id, terms.tightened(by: uses.bounds))
                do throws(RequestError) { try write(unlock, session, keychain) } catch {
                    guard error == .state(.noSession) else { throw error }
                }
            }
        }
    }

    package func inForce(_ settings: KeychainSettings) -> KeychainSettings? {
        settings.tightened(by: uses.bounds)
    }

    /// Throws where a key could not be removed: an unlocked keychain must not be taken for a locked
    /// one.
    package func lock(_ keychain: OpenKeychain) throws(RequestError) {
        try locks.lock(keychain.id) { () throws(RequestError) in
            for name in try unlocks(of: keychain) { keyring.remove(name, of: keychain.user) }
            uses.end(keychain.id)
            guard try unlocks(of: keychain).isEmpty else { throw .failed(.internalError) }
        }
        for session in sessions.live(keychain.user) {
            sessions.setLockReason(.lockedByUser, of: session.id)
        }
    }

    package func forget(_ keychain: OpenKeychain) throws(RequestError) {
        // Root's logins have no unlock of the machine's keychain.
        if !keychain.isSystem { try lock(keychain) }
        try locks.forget(keychain.id) { () throws(RequestError) in
            let keys = kept.keys(of: keychain)
            for key in [keys.firstUnlock, keys.machine] {
                keyring.remove(key.name, of: keychain.user)
            }
            kept.forget(keychain.id)
        }
    }

    // MARK: Whether an unlock lasts

    package func unlocks(of keychain: OpenKeychain) -> Unlocks {
        // Read before the keyring: a lock in between then ends the unlocks.
        let moment = locks.now(keychain.id)
        if keychain.isSystem { return Unlocks(source: .device, moment: moment) }
        // `keys` and `lasts` check whether the logins are alive.
        let open = sessions.recorded(keychain.user).compactMap { unlock(of: keychain, in: $0) }
        return Unlocks(source: .logins(open), moment: moment)
    }

    package func lasts(
        _ unlocks: Unlocks, of keychain: OpenKeychain, for availability: Accessibility.Availability
    ) -> Bool {
        let now = locks.now(keychain.id)
        guard now.isSameUnlessLocked(unlocks.moment) else { return false }
        // The machine's keychain has no lock.
        guard case .logins(let opened) = unlocks.source else { return true }
        switch availability {
        case .always: return true
        case .afterFirstUnlock:
            return keyring.holds(kept.keys(of: keychain).firstUnlock.name, of: keychain.user)
        case .whileUnlocked:
            // The key itself need not be looked up: it is removed only by a lock, which `now`
            // counts, at the end of the login or of the unlock's time, or to make room for another
            // one, which ends nothing that is under way.
            return now == unlocks.moment
                && sessions.live(keychain.user).contains { session in
                    opened.contains { $0.login == session.id && isLasting($0.terms, keychain) }
                }
        }
    }

    /// The login's unlock of the keychain, where it exists and its time is not over.
    private func unlock(of keychain: OpenKeychain, in session: LoginSession) -> SessionUnlock? {
        let key = unlockKey(session, keychain)
        guard let kept = keyring.read(key.name, of: keychain.user),
            let terms = AutoLockTerms(kept: kept), isLasting(terms, keychain)
        else { return nil }
        return SessionUnlock(session.id, terms)
    }

    private func isLasting(_ terms: AutoLockTerms, _ keychain: OpenKeychain) -> Bool {
        uses.rest(of: terms.tightened(by: uses.bounds), keychain.id) != .zero
    }

    private func unlocks(of keychain: OpenKeychain) throws(RequestError) -> [String] {
        try keyring.names(of: keychain.user).filter {
            $0.hasPrefix(KeyName.Kind.unlock.prefix) && KeyName.isOf(keychain.name, $0)
        }
    }

    // MARK: A login whose password is not the keychain's

    /// Eight hours: a working day.
    private static let renewalSeconds: UInt32 = 8 * 3600

    /// Keeps the keys derived from a password that PAM verified, until the session ends or the time
    /// is over. They open nothing: no protector is made of them before the keychain's own password
    /// is given.
    package func keepRenewal(
        _ keys: borrowing PasswordKeys, of keychain: OpenKeychain, in session: LoginSession
    ) throws(RequestError) {
        guard let sealing = sessionKey(session, vaultKey.now) else { throw .state(.noSession) }
        let key = renewalKey(session, keychain)
        let sealed = keys.copy().withBytes {
            sealing.sealForMemory($0, context: key.context(nil))
        }
        try sessions.whileKnown(session) { () throws(RequestError) in
            makeRoom(for: key.name, .renewal, in: session)
            try keyring.write(
                key.name, sealed, of: keychain.user,
                timeoutSeconds: Self.renewalSeconds)
        }
    }

    /// The kept keys of the latest login.
    package func renewal(of keychain: OpenKeychain) -> PasswordKeys? {
        for session in sessions.live(keychain.user).reversed() {
            let key = renewalKey(session, keychain)
            guard let vault = vaultKey.present, let sealing = sessionKey(session, vault),
                let sealed = keyring.read(key.name, of: keychain.user),
                let copy = sealed.withBytes({ try? sealing.open($0, context: key.context(nil)) })
            else { continue }
            return try? PasswordKeys(copy: copy)
        }
        return nil
    }

    /// Whether the keys of another password are kept, or a live login's password did not open the
    /// keychain.
    package func isOutOfStep(_ keychain: OpenKeychain) -> Bool {
        guard keychain.name == .login else { return false }
        return renewal(of: keychain) != nil
            || sessions.live(keychain.user).contains { $0.lockReason == .passwordDiffers }
    }

    /// Removes the kept keys of every login: passwords of older logins have been replaced since,
    /// and the user need not be told of them.
    package func endRenewal(of keychain: OpenKeychain) {
        for session in sessions.live(keychain.user) {
            keyring.remove(renewalKey(session, keychain).name, of: keychain.user)
        }
        guard keychain.name == .login else { return }
        PasswordMismatch(records: sessions.records).end(keychain.user)
    }

    private func renewalKey(_ session: LoginSession, _ keychain: OpenKeychain) -> KeptKey {
        KeptKey(KeyName.renewal(session.id, keychain.name), keychain)
    }

    package func lockState(of keychain: OpenKeychain) -> KeychainStatus.LockState {
        if keychain.isSystem { return (try? systemKeys(keychain)) != nil ? .unlocked : .locked }
        guard let vault = vaultKey.present else { return .locked }
        var unlocks: [SessionUnlock] = []
        let live = sessions.live(keychain.user)
        let keys = kept.keys(of: keychain)
        if whileUnlockedKeys(keychain, keys, live, vault, isUse: false, &unlocks) != nil {
            return .unlocked
        }
        let first = bundle(.afterFirstUnlock, keys.firstUnlock, keychain, vault)
        return first != nil ? .lockedAfterFirstUnlock : .locked
    }

    package func lockReason(of keychain: OpenKeychain, for caller: Caller) -> LockReason {
        let live = sessions.live(keychain.user)
        guard let session = live.first(where: { $0.id == caller.session }) ?? live.last else {
            return .noSession
        }
        let hasRunOut = session.lockReason == .none && uses.hasRunOut(keychain.id)
        return hasRunOut ? .timedOut : session.lockReason
    }

    package func knowsSession(of caller: Caller) -> Bool { caller.session != nil }

    // MARK: Sealed bundles

    /// `kept` was taken before the file is read, so that keys forgotten meanwhile are not kept again.
    func alwaysKeys(
        _ keychain: OpenKeychain, _ kept: KeptKeys
    ) throws(RequestError) -> KeyBundle {
        if let keys = kept.always() { return keys }
        let keys = try protectors.alwaysKeys(keychain)
        kept.keep(always: keys)
        return keys
    }

    /// The keys from any live session that opened the keychain; `unlocks` gets the unlocks of all
    /// that did.
    private func whileUnlockedKeys(
        _ keychain: OpenKeychain, _ kept: KeptKeys, _ live: [LoginSession],
        _ vault: VaultKey.Kept, isUse: Bool, _ unlocks: inout [SessionUnlock]
    ) -> KeyBundle? {
        var found: KeyBundle?
        for session in live {
            let key = kept.unlock(session, keychain)
            guard let sealed = keyring.read(key.name, of: keychain.user),
                let terms = AutoLockTerms(kept: sealed)
            else { continue }
            guard isLasting(terms, keychain) else {
                keyring.remove(key.name, of: keychain.user)
                continue
            }
            if found == nil {
                guard let sealing = sessionKey(session, vault),
                    let keys = opened(.whileUnlocked, sealed, key, sealing, terms)
                else { continue }
                // A use by any login shows that the user is not idle.
                if isUse { uses.note(keychain.id) }
                found = consume keys
            }
            unlocks.append(SessionUnlock(session.id, terms))
        }
        return found
    }

    private func unlockKey(_ session: LoginSession, _ keychain: OpenKeychain) -> KeptKey {
        kept.keys(of: keychain).unlock(session, keychain)
    }

    private static let ofSession = Array("session".utf8)

    /// One half of the key ends with the session's ticket, the other with the boot.
    private func sessionKey(_ session: LoginSession, _ vault: VaultKey.Kept) -> SealingKey? {
        guard let ticket = sessions.ticket(of: session) else { return nil }
        return SealingKey(
            KeyedHash.secret(key: vault.key.bytes, Self.ofSession, mixedWith: ticket))
    }

    func bundle(
        _ kind: KeyBundle.Kind, _ key: KeptKey, _ keychain: OpenKeychain, _ vault: VaultKey.Kept
    ) -> KeyBundle? {
        guard let sealed = keyring.read(key.name, of: keychain.user) else { return nil }
        return opened(kind, sealed, key, vault.key, nil)
    }

    private func opened(
        _ kind: KeyBundle.Kind, _ sealed: borrowing SecretBytes, _ key: KeptKey,
        _ sealing: borrowing SealingKey, _ terms: AutoLockTerms?
    ) -> KeyBundle? {
        let start = terms == nil ? 0 : AutoLockTerms.byteCount
        let plain = sealed.withBytes { bytes in
            try? sealing.open(
                bytes.extracting(start..<bytes.byteCount), context: key.context(terms))
        }
        guard let plain else { return nil }
        return try? KeyBundle(kind, plain)
    }

    /// The terms are in clear before the sealed keys, and authenticated with them.
    func sealed(
        _ keys: borrowing KeyBundle, _ key: KeptKey, _ sealing: borrowing SealingKey,
        _ terms: AutoLockTerms? = nil
    ) -> SecretBytes {
        keys.bytes.withBytes {
            sealing.sealForMemory($0, context: key.context(terms), behind: terms?.bytes ?? [])
        }
    }
}
