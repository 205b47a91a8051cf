// SPDX-License-Identifier: Apache-2.0
internal import KeychainItemStore
internal import KeychainMessages
package import KeychainModel
internal import KeychainRequestAudit
package import KeychainSecrets
package import KeychainUserPresence
package import KeychainVaults

/// What a user does with whole keychains: makes, opens and closes them, says how they stay open and
/// what opens them. Each is done for one client, with a keychain that is the client's own; the
/// machine's is root's.
package struct KeychainManagement: Sendable {
    let folder: KeychainFolder
    let authentication: Authentication
    let resync: PasswordResync
    let unlocking: any UnlockStep
    /// In embedded mode the files are the user's own.
    let isDaemon: Bool
    package let changes = ChangeFeed()

    var vault: any KeyVault { resync.vault }
    var protectors: Protectors { resync.protectors }
    var guesses: UnlockThrottle { resync.guesses }

    /// `unlocking` is nil for the product's own step.
    package init(
        folder: KeychainFolder, authentication: Authentication, resync: PasswordResync,
        unlocking: (any UnlockStep)?, isDaemon: Bool
    ) {
        self.folder = folder
        self.authentication = authentication
        self.resync = resync
        self.unlocking = unlocking ?? resync
        self.isDaemon = isDaemon
        // In embedded mode no deputy watches.
        if isDaemon { tellLocks() }
    }

    func prompts(_ client: any Client) -> UserPrompts { UserPrompts(client, authentication) }

    /// The machine's is root's.
    func keychain(_ name: String?, for caller: Caller) throws(RequestError) -> OpenKeychain {
        let keychain = try folder.keychain(name, of: caller.user)
        guard !keychain.isSystem || caller.user == 0 else { throw .refused(.notEntitled) }
        guard !keychain.isSystem || caller.via == nil else { throw .state(.noSuchKeychain) }
        return keychain
    }

    /// The user's keychains as the caller may know of them; the login keychain is there or could be.
    package func statusOfAll(for caller: Caller) -> [KeychainStatus] {
        var names = folder.names(of: caller.user)
        if caller.via == nil {
            if !names.contains(.login) { names.insert(.login, at: 0) }
            if folder.hasSystemKeychain, !names.contains(.system) { names.append(.system) }
        } else {
            // For programs that a deputy brings the machine's keychain is not there, and a login
            // keychain that no login has made yet is one that they may have made.
            names.removeAll { $0 == .system }
        }
        return names.map { folder.status(of: $0, for: caller, vault) }
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
            // A new keychain is open for the login that made it, where there is one.
            try? vault.keep(keys, of: keychain, for: client.caller, since: begun)
        }
    }

    /// Always asks: a program would take other programs' items away. New items go into the default
    /// keychain, and logins open the login keychain: these stay.
    package func deleteKeychain(_ name: String?, for client: any Client) throws(RequestError) {
        let keychain = try keychain(name, for: client.caller)
        func mayGo() -> Bool {
            keychain.name != .login && !keychain.isSystem
                && folder.preferences(of: client.caller).defaultKeychain != keychain.name
        }
        // In embedded mode other processes have the file open.
        guard isDaemon, mayGo() else { throw .invalid(.notImplemented) }
        try prompts(client).authorizePresence(deletion(of: keychain, for: client))
        // It may have become the default during the question.
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
    }

    package func lock(_ name: String?, for client: any Client) throws(RequestError) {
        let keychain = try keychain(name, for: client.caller)
        // What opens by itself can't be kept locked.
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
        // Services could not open it any more.
        guard !keychain.isSystem else { throw .invalid(.notImplemented) }
        // Nor does the device's key open such a one.
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

    /// Elsewhere than in embedded mode it had one, and something else opens it.
    private func withoutPassword(_ keychain: OpenKeychain) -> RequestError {
        isDaemon && !keychain.isSystem ? .state(.noSuchProtector) : .state(.passcodeNotSet)
    }

    func isProtected(_ keychain: OpenKeychain) throws(RequestError) -> Bool {
        do { return try keychain.file.isPasswordProtected() } catch { throw RequestError(error) }
    }

    /// Whether a person can prove that the keychain is theirs: who has its password; of the
    /// machine's, root.
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

    /// Whether the login keychain has a password that could be asked for.
    package func hasPasscode(_ caller: Caller) -> Bool {
        guard let keychain = try? folder.keychain(nil, of: caller.user) else { return false }
        return (try? isProtected(keychain)) ?? false
    }
}
