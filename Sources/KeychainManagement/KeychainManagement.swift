// SPDX-License-Identifier: Apache-2.0
internal import KeychainItemStore
internal import KeychainMessages
package import KeychainModel
internal import KeychainRequestAudit
package import KeychainSecrets
package import KeychainUserPresence
package import KeychainVaults

/// Requests about whole keychains: make, unlock, lock, settings and protectors. Each runs for one
/// client, with a keychain of the client's own user; the machine's is root's.
package struct KeychainManagement: Sendable {
    let folder: KeychainFolder
    let authentication: Authentication
    let resync: PasswordResync
    let unlocking: any UnlockStep
    /// False in embedded mode, where the files are the user's own.
    let isDaemon: Bool
    package let changes = ChangeFeed()
    let givenPasswords = GivenPasswords()

    var vault: any KeyVault { resync.vault }
    var protectors: Protectors { resync.protectors }
    var guesses: UnlockThrottle { resync.guesses }

    /// `unlocking` nil means the product's own step.
    package init(
        folder: KeychainFolder, authentication: Authentication, resync: PasswordResync,
        unlocking: (any UnlockStep)?, isDaemon: Bool
    ) {
        self.folder = folder
        self.authentication = authentication
        self.resync = resync
        self.unlocking = unlocking ?? resync
        self.isDaemon = isDaemon
        // Embedded mode has no deputies to tell.
        if isDaemon { tellLocks() }
    }

    func prompts(_ client: any Client) -> UserPrompts { UserPrompts(client, authentication) }

    /// The user's keychain; the machine's only for root.
    func keychain(_ name: String?, for caller: Caller) throws(RequestError) -> OpenKeychain {
        let id = try folder.id(KeychainFolder.verified(name), of: caller.user)
        let isSystem = id.name == .system
        guard !isSystem || caller.user == 0 else { throw .refused(.notEntitled) }
        guard !isSystem || caller.via == nil else { throw .state(.noSuchKeychain) }
        return try folder.keychain(id, for: caller.user)
    }

    /// The user's keychains as far as the caller may know them; the login keychain is included even
    /// if it does not exist yet.
    package func statusOfAll(for client: any Client) -> [KeychainStatus] {
        let caller = client.caller
        // Another user's program may be told of the machine's keychain here, and of no other.
        guard folder.serves(caller.user) else {
            let mayKnow = folder.opensSystemKeychain && caller.via == nil
            return mayKnow ? [folder.status(of: .system, for: caller, vault)] : []
        }
        var names = folder.names(of: caller.user)
        if caller.via == nil {
            if !names.contains(.login) { names.insert(.login, at: 0) }
            if folder.hasSystemKeychain, !names.contains(.system) { names.append(.system) }
        } else {
            // For a relayed program the machine's keychain does not exist, and a login keychain that
            // does not exist yet is listed by no name: the program may create it.
            names.removeAll { $0 == .system }
        }
        return names.map { name in
            name == .system && !folder.opensSystemKeychain
                ? statusElsewhere(for: client) : folder.status(of: name, for: caller, vault)
        }
    }

    /// The status of the machine's keychain by the word of the process that has it open, where the
    /// client reaches that one.
    private func statusElsewhere(for client: any Client) -> KeychainStatus {
        var status = folder.statusOfUnseenSystem
        guard let machine = client.machine else { return status }
        var told: KeychainStatus?
        do throws(RequestError) {
            try machine.ask(Status(), for: client) { answer throws(RequestError) in
                told = answer.keychains.first { $0.name == status.name }
            }
            guard told != nil else { throw .failed(.notAvailable) }
        } catch {
            status.lockState = .locked
            status.problem = error
        }
        return told ?? status
    }

    package func createKeychain(
        _ name: String, _ password: HeldSecret?, _ recoveryKey: HeldSecret?,
        for client: any Client
    ) throws(RequestError) {
        let name = try KeychainFolder.verified(name)
        guard name != .system else {
            throw folder.hasSystemKeychain ? .state(.duplicateKeychain) : .invalid(.notImplemented)
        }
        try checkLength(password)
        try prompts(client).checkClient()
        try protectors.create(
            name, of: client.caller.user, password: password, recoveryKey: recoveryKey)
        tell(.created, of: try folder.id(name, of: client.caller.user), by: client)
        if let password {
            let keychain = try folder.keychain(name.description, of: client.caller.user)
            let begun = vault.locks.now(keychain.id)
            let keys = try protectors.unlock(keychain, password)
            // A new keychain is unlocked for the login that made it, if there is one.
            try? vault.keep(keys, of: keychain, for: client.caller, since: begun)
            givenPasswords.note(keychain.id, by: client.caller, since: begun)
        }
    }

    /// Always asks, as a program would delete other programs' items. The default keychain, which
    /// takes new items, and the login keychain, which logins unlock, can't be deleted.
    package func deleteKeychain(_ name: String?, for client: any Client) throws(RequestError) {
        let keychain = try keychain(name, for: client.caller)
        func mayGo() -> Bool {
            keychain.name != .login && !keychain.isSystem
                && folder.preferences(of: client.caller).defaultKeychain != keychain.name
        }
        // In embedded mode other processes have the file open.
        guard isDaemon, mayGo() else { throw .invalid(.notImplemented) }
        try prompts(client).authorizePresence(deletion(of: keychain, for: client))
        // The keychain may have become the default during the question.
        guard mayGo() else { throw .invalid(.notImplemented) }
        try folder.delete(keychain)
        try vault.forget(keychain)
        tell(.deleted, of: keychain.id, by: client)
    }

    package func unlock(
        _ name: String?, _ password: HeldSecret, for client: any Client
    ) throws(RequestError) {
        try checkLength(password)
        let keychain = try keychain(name, for: client.caller)
        guard try isProtected(keychain) else { throw withoutPassword(keychain) }
        try prompts(client).checkClient()
        let begun = vault.locks.now(keychain.id)
        let keys = try guesses.attempt(keychain.id) { () throws(RequestError) in
            try resync.unlock(keychain, ownPassword: password)
        }
        try vault.keep(keys, of: keychain, for: client.caller, since: begun)
        givenPasswords.note(keychain.id, by: client.caller, since: begun)
    }

    package func lock(_ name: String?, for client: any Client) throws(RequestError) {
        let keychain = try keychain(name, for: client.caller)
        // A keychain that opens by itself can't be kept locked.
        let isProtected = try isProtected(keychain)
        guard isProtected || (isDaemon && !keychain.isSystem) else { throw .state(.passcodeNotSet) }
        try vault.lock(keychain)
        authentication.forget(client.caller.user)
    }

    package func setPassword(
        _ name: String?, _ old: HeldSecret?, _ new: HeldSecret, for client: any Client
    ) throws(RequestError) {
        try checkLength(old)
        try checkLength(new)
        guard new.bytes.count > 0 else { throw .invalid(.badRequest) }
        let keychain = try keychain(name, for: client.caller)
        // With a password, services could not unlock it any more.
        guard !keychain.isSystem else { throw .invalid(.notImplemented) }
        // In the daemon, the device key does not open a keychain without a password either.
        guard try isProtected(keychain) || !isDaemon else { throw withoutPassword(keychain) }
        try prompts(client).checkClient()
        let begun = vault.locks.now(keychain.id)
        let keys = try guesses.attempt(keychain.id) { () throws(RequestError) in
            try protectors.setPassword(keychain, old: old, new: new)
            vault.endRenewal(of: keychain)
            return try protectors.unlock(keychain, new)
        }
        try? vault.keep(keys, of: keychain, for: client.caller, since: begun)
        authentication.forget(client.caller.user)
    }

    /// The error for a keychain without a password: outside embedded mode it once had one, and
    /// another protector opens it.
    private func withoutPassword(_ keychain: OpenKeychain) -> RequestError {
        isDaemon && !keychain.isSystem ? .state(.noSuchProtector) : .state(.passcodeNotSet)
    }

    func isProtected(_ keychain: OpenKeychain) throws(RequestError) -> Bool {
        do { return try keychain.file.isPasswordProtected() } catch { throw RequestError(error) }
    }

    /// Whether a person can prove to own the keychain: a user by its password; for the machine's
    /// keychain, root.
    package func hasProvableOwner(
        _ keychain: OpenKeychain, for caller: Caller
    ) throws(RequestError) -> Bool {
        if keychain.isSystem { return caller.user == 0 }
        return try isProtected(keychain)
    }

    func checkLength(_ password: HeldSecret?) throws(RequestError) {
        guard password?.bytes.count ?? 0 <= RequestLimits.longestPassword else {
            throw .invalid(.dataTooLarge)
        }
    }

    /// Whether the login keychain has a password that can be asked for.
    package func hasPasscode(_ caller: Caller) -> Bool {
        guard let keychain = try? folder.keychain(nil, of: caller.user) else { return false }
        return (try? isProtected(keychain)) ?? false
    }
}
