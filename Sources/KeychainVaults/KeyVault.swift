// SPDX-License-Identifier: Apache-2.0
package import KeychainItemStore
package import KeychainModel

/// Where class keys are while a keychain is open. No other part keeps one.
package protocol ClassKeyVault: Sendable {
    /// The class keys that are there now, for one request.
    func keys(of keychain: OpenKeychain) throws(RequestError) -> ClassKeys
    /// The same with the unlocks that they came with. `logins` are those that a look has just seen.
    func take(_ keychain: OpenKeychain, by logins: LiveLogins?) throws(RequestError) -> TakenKeys
    /// The unlocks of the keychain that are there now.
    func unlocks(of keychain: OpenKeychain) -> Unlocks
    /// Whether class keys of that availability that were taken with these unlocks may still be
    /// used: one of the unlocks is there, and the keychain was not locked since, even if it was
    /// opened again.
    func lasts(
        _ unlocks: Unlocks, of keychain: OpenKeychain, for availability: Accessibility.Availability
    ) -> Bool
    /// When keychains were locked, by which an unlock under way knows that it came too late.
    var locks: LockCounts { get }
    /// Keeps what unlocking produced, for as long as the unlock lasts. Refused where the keychain
    /// was locked after the unlock had begun.
    func keep(
        _ unlocked: borrowing UnlockedKeys, of keychain: OpenKeychain, for caller: Caller,
        since begun: LockGeneration
    ) throws(RequestError)
    /// Closes the when-unlocked classes.
    func lock(_ keychain: OpenKeychain) throws(RequestError)
    /// Closes all its classes: another file has taken its place.
    func forget(_ keychain: OpenKeychain) throws(RequestError)
    /// What closes the keychain from now on, open as it is.
    func apply(_ settings: KeychainSettings, to keychain: OpenKeychain) throws(RequestError)
    /// The settings with the administrator's bounds; nil where nothing closes a keychain.
    func inForce(_ settings: KeychainSettings) -> KeychainSettings?
    func lockState(of keychain: OpenKeychain) -> KeychainStatus.LockState
    var usesKernelKeyring: Bool { get }
    /// nil where class keys are not sealed with a vault key.
    var vaultKeyPlace: ServiceStatus.VaultKeyPlace? { get }
}

/// What login sessions have to do with the locks of their users' keychains.
package protocol LoginVault: Sendable {
    /// Waits until unlocks that were accepted for the user are done: a first login makes the file.
    func waitForPendingUnlocks(of user: UInt32)
    /// What to go on with once the keychain's own password was given, where a login of the user had
    /// another.
    func renewal(of keychain: OpenKeychain) -> PasswordKeys?
    /// Whether a live login of the user's had another password than the keychain, which was not
    /// mended since.
    func isOutOfStep(_ keychain: OpenKeychain) -> Bool
    /// The keychain's password and the login's are in step again, or meant to differ.
    func endRenewal(of keychain: OpenKeychain)
    func lockReason(of keychain: OpenKeychain, for caller: Caller) -> LockReason
    /// Whether the caller's login session is known.
    func knowsSession(of caller: Caller) -> Bool
}

/// What the service needs of both.
package typealias KeyVault = ClassKeyVault & LoginVault

/// Class keys for one request, and the unlocks that they came with.
package struct TakenKeys: ~Copyable {
    package let unlocks: Unlocks
    private let classKeys: ClassKeys

    package init(_ classKeys: consuming ClassKeys, _ unlocks: Unlocks) {
        self.classKeys = classKeys
        self.unlocks = unlocks
    }

    package consuming func keys() -> ClassKeys { classKeys }
}

extension ClassKeyVault {
    package func take(
        _ keychain: OpenKeychain, by logins: LiveLogins?
    ) throws(RequestError) -> TakenKeys {
        // First: an unlock that ends while the keys are taken is missed otherwise.
        let unlocks = unlocks(of: keychain)
        return TakenKeys(try keys(of: keychain), unlocks)
    }
}
