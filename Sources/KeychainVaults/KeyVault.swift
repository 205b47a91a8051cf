// SPDX-License-Identifier: Apache-2.0
package import KeychainItemStore
package import KeychainModel
internal import KeychainSecrets
internal import Synchronization

/// Where class keys are while a keychain is open. No other part keeps one.
package protocol ClassKeyVault: AnyObject, Sendable {
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

/// A keychain whose file is open; its keys may be there or not. An object, as each step of a request
/// hands it on.
package final class OpenKeychain: Sendable {
    package let id: KeychainID
    package let path: String
    package let file: KeychainFile

    package init(_ id: KeychainID, path: String, file: KeychainFile) {
        self.id = id
        self.path = path
        self.file = file
    }
}

/// A keychain's owner, and which of the owner's it is.
package struct KeychainID: Hashable, Sendable {
    package let user: UInt32
    package let name: KeychainName

    package init(user: UInt32, name: KeychainName) {
        self.user = user
        self.name = name
    }
}

extension OpenKeychain {
    package var user: UInt32 { id.user }
    package var name: KeychainName { id.name }
    /// The machine's, which no login opens.
    package var isSystem: Bool { name == .system }
    /// In answers to who named none: most items are in the login keychain, and don't say so.
    package var nameToTell: String? { name == .login ? nil : name.description }
}

/// A login that opened a keychain, and the terms that its unlock ends by.
package struct SessionUnlock: Sendable, Equatable {
    package let login: SessionID
    package let terms: AutoLockTerms

    package init(_ login: SessionID, _ terms: AutoLockTerms) {
        self.login = login
        self.terms = terms
    }
}

/// The unlocks that class keys come from, as they were when a request took the keys.
package struct Unlocks: Sendable {
    package enum Source: Sendable, Equatable {
        /// The keychain opens by itself.
        case device
        /// The unlocks by these logins, alive or not. None: the keychain was locked.
        case logins([SessionUnlock])
        /// The unlock that the user's programs share in embedded mode.
        case user
    }

    package let source: Source
    package let moment: LockGeneration

    package init(source: Source, moment: LockGeneration) {
        self.source = source
        self.moment = moment
    }

    package var isOpen: Bool { source != .logins([]) }
}

/// Tells a request whether the class keys in its hands may still be used. A request may take long,
/// as its reader likes; an unlock ends in many ways, most of which tell no request of it.
package struct UnlockWatch: Sendable {
    /// Items of a long change between two looks at the unlock.
    private static let itemsBetweenLooks = 64

    private let keychain: OpenKeychain
    private let vault: any ClassKeyVault
    private let unlocks: Unlocks
    private var items = 0

    /// To be made before the keys are taken, so that no end of an unlock falls in between.
    package init(_ keychain: OpenKeychain, _ vault: any ClassKeyVault) {
        self.keychain = keychain
        self.vault = vault
        unlocks = vault.unlocks(of: keychain)
    }

    /// For keys that were taken with these unlocks.
    package init(_ keychain: OpenKeychain, _ vault: any KeyVault, _ unlocks: Unlocks) {
        self.keychain = keychain
        self.vault = vault
        self.unlocks = unlocks
    }

    /// Whether there is an unlock that can end.
    package var isOpen: Bool {
        unlocks.isOpen && vault.lasts(unlocks, of: keychain, for: .whileUnlocked)
    }

    /// Throws `.locked` where keys of that availability are not there any more for the same unlocks.
    package func check(_ availability: Accessibility.Availability) throws(RequestError) {
        guard vault.lasts(unlocks, of: keychain, for: availability) else { throw .state(.locked) }
    }

    /// The same for one item of many, of which each 64th looks.
    package mutating func checkNowAndThen(_ availability: Accessibility.Availability)
        throws(RequestError)
    {
        defer { items += 1 }
        guard items.isMultiple(of: Self.itemsBetweenLooks) else { return }
        try check(availability)
    }
}

/// When an unlock began, in locks.
package struct LockGeneration: Sendable, Equatable {
    fileprivate var ofKeychain: UInt64 = 0
    fileprivate var ofUser: UInt64 = 0
    /// In the times that all keys were given up, those that a lock leaves among them.
    fileprivate var forgets: UInt64 = 0

    /// Whether the keys that a lock leaves are the same as in the other.
    package func isSameUnlessLocked(_ other: LockGeneration) -> Bool { forgets == other.forgets }
}

/// Counts how often each keychain was locked, so that an unlock which began before a lock, and takes
/// a while to derive its key, does not undo it.
package final class LockCounts: Sendable {
    private struct Counts {
        /// A lock is removing keys.
        var areChanging = false
        var ofKeychains: [KeychainID: UInt64] = [:]
        /// Locks of all of a user's keychains.
        var ofUsers: [UInt32: UInt64] = [:]
        var forgetsOfKeychains: [KeychainID: UInt64] = [:]
        var forgetsOfUsers: [UInt32: UInt64] = [:]

        func now(_ keychain: KeychainID) -> LockGeneration {
            LockGeneration(
                ofKeychain: ofKeychains[keychain, default: 0],
                ofUser: ofUsers[keychain.user, default: 0],
                forgets: forgetsOfKeychains[keychain, default: 0]
                    &+ forgetsOfUsers[keychain.user, default: 0])
        }
    }

    /// Every request looks at them: so this lock is never held while keys are written or removed.
    private let counts = ShortLock(Counts())
    /// One writing or removing of keys at a time.
    private let changing = Mutex(())
    private let observer = ShortLock<(@Sendable (Change) -> Void)?>(nil)

    package init() {}

    /// Keychains that were locked, or opened.
    package enum Change: Sendable {
        case keychain(KeychainID)
        case all([UInt32])
    }

    /// `observer` is called after each change, on the thread that makes it.
    package func observe(_ observer: @escaping @Sendable (Change) -> Void) {
        self.observer.withLock { $0 = observer }
    }

    private func tell(_ change: Change) { observer.withLock { $0 }?(change) }

    /// Waits for a lock that is removing keys: what is read after it is read without them.
    package func now(_ keychain: KeychainID) -> LockGeneration {
        let now = counts.withLock { $0.areChanging ? nil : $0.now(keychain) }
        return now ?? changing.withLock { _ in counts.withLock { $0.now(keychain) } }
    }

    /// Counts with `count`, and removes keys with `body` before a request sees the new count.
    private func change(
        _ count: (inout Counts) -> Void, _ body: () throws(RequestError) -> Void
    ) throws(RequestError) {
        try changing.withLock { _ throws(RequestError) in
            counts.withLock { counts in
                counts.areChanging = true
                count(&counts)
            }
            defer { counts.withLock { $0.areChanging = false } }
            try body()
        }
    }

    /// Removes the keys with `body`; nothing is kept meanwhile.
    package func lock(_ keychain: KeychainID, _ body: () throws(RequestError) -> Void)
        throws(RequestError)
    {
        defer { tell(.keychain(keychain)) }
        try change({ $0.ofKeychains[keychain, default: 0] &+= 1 }, body)
    }

    /// The same for all of the users' keychains.
    package func lockAll(of users: [UInt32], _ body: () -> Void) {
        defer { tell(.all(users)) }
        try? change(
            { counts in for user in users { counts.ofUsers[user, default: 0] &+= 1 } }, body)
    }

    /// Removes with `body` every key of the keychain, those that a lock leaves too.
    package func forget(_ keychain: KeychainID, _ body: () throws(RequestError) -> Void)
        throws(RequestError)
    {
        defer { tell(.keychain(keychain)) }
        try change(
            { counts in
                counts.ofKeychains[keychain, default: 0] &+= 1
                counts.forgetsOfKeychains[keychain, default: 0] &+= 1
            }, body)
    }

    /// The same for all of the users' keychains.
    package func forgetAll(of users: [UInt32], _ body: () -> Void) {
        defer { tell(.all(users)) }
        try? change(
            { counts in
                for user in users {
                    counts.ofUsers[user, default: 0] &+= 1
                    counts.forgetsOfUsers[user, default: 0] &+= 1
                }
            }, body)
    }

    /// Keeps keys with `body`, unless the keychain has been locked since.
    package func keep(
        _ keychain: KeychainID, since moment: LockGeneration,
        _ body: () throws(RequestError) -> Void
    ) throws(RequestError) {
        try changing.withLock { _ throws(RequestError) in
            guard counts.withLock({ $0.now(keychain) }) == moment else { throw .state(.locked) }
            try body()
        }
        tell(.keychain(keychain))
    }
}
