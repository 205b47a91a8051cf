// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
package import KeychainModel
package import KeychainItemStore
package import KeychainSecrets
package import KeychainLinuxSystem
package import KeychainRows
internal import Synchronization

/// Opens, makes and re-wraps keychains with their protectors: a password, this device, and others.
///
/// Changes of one user's keychains run one at a time. A key derivation waits for the user's turn by
/// itself (`UserTurns`), and gives the turn up before anything is written: a file that is
/// slow to write, or closed to writers, delays no other user.
package final class Protectors: Sendable {
    private let folder: KeychainFolder
    package let deviceKey: SealingKey
    package let keys: ProtectorKeys
    /// What reads a copy that is to be restored, by the user whose keychain it becomes.
    private let reader: @Sendable (UInt32) -> any ForeignReader
    /// Whether this device's key may open a keychain that is made without a password.
    package let allowsDeviceProtector: Bool
    /// Of passwords that keychains get from now on.
    let passwordCost: PasswordCostChoice
    private let changes = Mutex<[UInt32: Changes]>([:])
    /// The machine's TPM does one thing at a time, which takes seconds.
    package let tpmTurns = UserTurns(atOnce: 1)

    package init(
        folder: KeychainFolder, deviceKey: consuming SealingKey, allowsDeviceProtector: Bool,
        keys: ProtectorKeys = .none,
        reader: @escaping @Sendable (UInt32) -> any ForeignReader = { _ in OwnProcessReader() },
        passwordCost: PasswordCostChoice = .calibrated
    ) {
        self.folder = folder
        self.keys = keys
        self.reader = reader
        self.deviceKey = deviceKey
        self.allowsDeviceProtector = allowsDeviceProtector
        self.passwordCost = passwordCost
    }

    /// Names of the user's keychains.
    package func keychains(of user: UInt32) -> [KeychainName] { folder.names(of: user) }

    /// The device's own key, made at first use.
    package static func deviceKey(at path: String) throws(SystemError) -> SealingKey {
        SealingKey(try DeviceKeyFile.key(at: path))
    }

    package func unlock(
        _ keychain: OpenKeychain, _ password: HeldSecret
    ) throws(RequestError) -> UnlockedKeys {
        // Unlocking writes nothing, and so waits for no change. Where the secret can't be read, the
        // passcode-set class stays closed.
        let secret = try? deviceSecret(keychain)
        do throws(KeychainStoreError) {
            return try keychain.file.unlock(password: password.bytes, deviceSecret: secret)
        } catch { throw RequestError(error) }
    }

    /// Opens the keychain for a login whose password PAM has verified.
    package func login(
        _ keychain: OpenKeychain, _ password: HeldSecret
    ) throws(RequestError) -> LoginOutcome {
        let secret: HeldSecret?
        do { secret = try deviceSecret(keychain) } catch {
            return try loginWithoutDeviceSecret(keychain, password)
        }
        return try changing(keychain.user) { () throws(RequestError) in
            do throws(KeychainStoreError) {
                return try keychain.file.login(
                    password: password.bytes, deviceSecret: secret, deviceKey: deviceKey)
            } catch { throw RequestError(error) }
        }
    }

    private func loginWithoutDeviceSecret(
        _ keychain: OpenKeychain, _ password: HeldSecret
    ) throws(RequestError) -> LoginOutcome {
        do throws(KeychainStoreError) {
            return try keychain.file.loginWithoutDeviceSecret(
                password: password.bytes, deviceKey: deviceKey)
        } catch { throw RequestError(error) }
    }

    /// Opens the keychain with its own password, and lets the next login's open it too.
    package func unlock(
        _ keychain: OpenKeychain, _ password: HeldSecret, goingOnWith new: borrowing PasswordKeys
    ) throws(RequestError) -> UnlockedKeys {
        let kept = new.copy()
        return try withDeviceSecret(keychain) { secret throws(KeychainStoreError) in
            try keychain.file.unlock(
                password: password.bytes, goingOnWith: PasswordKeys(copy: kept),
                deviceSecret: secret)
        }
    }

    /// Opens a keychain that no password protects.
    package func unlockWithDevice(_ keychain: OpenKeychain) throws(RequestError) -> UnlockedKeys {
        do { return try keychain.file.unlock(deviceKey: deviceKey) } catch {
            throw RequestError(error)
        }
    }

    package func alwaysKeys(_ keychain: OpenKeychain) throws(RequestError) -> KeyBundle {
        do { return try keychain.file.alwaysKeys(deviceKey: deviceKey) } catch {
            throw RequestError(error)
        }
    }

    package func applicationKey(
        _ keychain: OpenKeychain, _ password: HeldSecret
    ) throws(RequestError) -> HeldSecret {
        do throws(KeychainStoreError) {
            return try keychain.file.applicationKey(password.bytes)
        } catch { throw RequestError(error) }
    }

    package func create(
        _ name: KeychainName, of user: UInt32, password: HeldSecret?,
        recoveryKey: HeldSecret? = nil, provisional: Bool = false
    ) throws(RequestError) {
        guard password != nil || allowsDeviceProtector || name == .system else {
            throw .state(.passcodeNotSet)
        }
        let recovery = try recoveryKey.map { text throws(RequestError) in
            try keys.make(.recoveryKey(text), for: user)
        }
        try changing(user) { () throws(RequestError) in
            let secret = password == nil ? nil : HeldSecret(SecretBytes(random: 32))
            try folder.create(name, of: user) { path, owner throws(KeychainStoreError) in
                // An old secret is left from an unfinished creation, or from a keychain that is
                // gone.
                PrivateFile.remove(folder.deviceSecretPath(name, user))
                if let secret { try keep(secret, name, user) }
                _ = try KeychainFile.create(
                    at: path, owner: owner, deviceKey: deviceKey, password: password,
                    deviceSecret: secret, provisional: provisional, adding: recovery,
                    cost: passwordCost)
            }
        }
    }

    /// The copy at one path, restored on this device as a new file at another.
    package func returning(
        _ copy: String, at path: String, _ owner: KeychainOwner
    ) throws(RequestError) -> ReturningKeychain {
        let opened: Descriptor
        do { opened = try .reading(copy) } catch { throw RequestError(error) }
        do throws(KeychainStoreError) {
            return try ReturningKeychain(
                from: opened, through: reader(owner.user), at: path, owner: owner,
                deviceKey: deviceKey)
        } catch {
            throw error == .wrongDeviceKey ? .state(.notOpenedHere) : RequestError(error)
        }
    }

    package func setPassword(
        _ keychain: OpenKeychain, old: HeldSecret?, new: HeldSecret
    ) throws(RequestError) {
        try withDeviceSecret(keychain) { secret throws(KeychainStoreError) in
            try keychain.file.setPassword(
                old: old?.bytes.copy(), new: new.bytes.copy(), deviceKey: deviceKey,
                deviceSecret: secret, cost: passwordCost)
        }
    }

    /// Changes the password. The old one opens the keychain as before, until a login has proved the
    /// new one.
    package func changePassword(
        _ keychain: OpenKeychain, old: HeldSecret, new: HeldSecret
    ) throws(RequestError) {
        try withDeviceSecret(keychain) { secret throws(KeychainStoreError) in
            try keychain.file.changePassword(
                old: old.bytes, new: new.bytes, deviceSecret: secret, cost: passwordCost)
        }
    }

    /// Runs `body`, which makes a password protector, with the device secret, making one where
    /// there is none.
    private func withDeviceSecret<R: ~Copyable>(
        _ keychain: OpenKeychain, _ body: (HeldSecret) throws(KeychainStoreError) -> R
    ) throws(RequestError) -> R {
        try changing(keychain.user) { () throws(RequestError) in
            let secret = try deviceSecretOrNew(keychain)
            do throws(KeychainStoreError) { return try body(secret) } catch {
                throw RequestError(error)
            }
        }
    }

    /// Runs one change of the user's keychains at a time; other users' changes go on.
    package func changing<R: ~Copyable>(
        _ user: UInt32, _ body: () throws(RequestError) -> R
    ) throws(RequestError) -> R {
        let mine = changes.withLock { changes in
            let mine = changes[user] ?? Changes()
            changes[user] = mine
            return mine
        }
        return try mine.lock.withLock { _ throws(RequestError) in try body() }
    }

    private final class Changes: Sendable {
        let lock = Mutex(())
    }

    // MARK: The device secret of passcode-set items

    func deviceSecretOrNew(_ keychain: OpenKeychain) throws(RequestError) -> HeldSecret {
        if let known = try deviceSecret(keychain) { return known }
        let secret = HeldSecret(SecretBytes(random: 32))
        do { try keep(secret, keychain.name, keychain.user) } catch { throw RequestError(error) }
        return secret
    }

    /// nil where there is none. One that can't be read is an error: a protector made without it
    /// would end the passcode-set class.
    func deviceSecret(_ keychain: OpenKeychain) throws(RequestError) -> HeldSecret? {
        let path = folder.deviceSecretPath(keychain.name, keychain.user)
        do throws(SystemError) {
            return HeldSecret(try PrivateFile.read(path, limit: SealingKey.byteCount))
        } catch {
            guard error == .system(PrivateFile.notFound) else { throw .failed(.inputOutput) }
            return nil
        }
    }

    /// Removes the device secret. `deviceSecretOrNew` makes another where one is needed.
    func destroyDeviceSecret(_ keychain: OpenKeychain) {
        PrivateFile.remove(folder.deviceSecretPath(keychain.name, keychain.user))
    }

    private func keep(
        _ secret: HeldSecret, _ name: KeychainName, _ user: UInt32
    ) throws(KeychainStoreError) {
        do {
            try PrivateFile.create(
                folder.deviceSecretPath(name, user), contents: secret.bytes)
        } catch { throw .init(error) }
    }
}
