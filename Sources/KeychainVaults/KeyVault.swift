// SPDX-License-Identifier: Apache-2.0
package import KeychainItemStore
internal import KeychainLinuxSystem
package import KeychainModel
internal import KeychainSecrets

/// Holds the class keys of open keychains. No other part keeps one.
package protocol ClassKeyVault: AnyObject, Sendable {
    /// The class keys that are available now, for one request.
    func keys(of keychain: OpenKeychain) throws(RequestError) -> ClassKeys
    /// The class keys with the unlocks that they came from. `logins` are the user's live logins
    /// where the request has just looked them up.
    func take(_ keychain: OpenKeychain, by logins: LiveLogins?) throws(RequestError) -> TakenKeys
    /// The present unlocks of the keychain.
    func unlocks(of keychain: OpenKeychain) -> Unlocks
    /// Whether class keys of that availability, taken with these unlocks, may still be used: one of
    /// the unlocks still exists, and the keychain was not locked since, even if it was unlocked
    /// again.
    func lasts(
        _ unlocks: Unlocks, of keychain: OpenKeychain, for availability: Accessibility.Availability
    ) -> Bool
    /// Counts locks, so that a running unlock notices a lock that came after its beginning.
    var locks: LockCounts { get }
    /// Keeps the keys of an unlock for as long as the unlock lasts. Throws where the keychain was
    /// locked after `begun`.
    func keep(
        _ unlocked: borrowing UnlockedKeys, of keychain: OpenKeychain, for caller: Caller,
        since begun: LockGeneration
    ) throws(RequestError)
    /// Removes the keys of the when-unlocked classes.
    func lock(_ keychain: OpenKeychain) throws(RequestError)
    /// Removes the keys of all classes, as another file has taken the keychain's place.
    func forget(_ keychain: OpenKeychain) throws(RequestError)
    /// Applies the settings to the keychain's present unlocks.
    func apply(_ settings: KeychainSettings, to keychain: OpenKeychain) throws(RequestError)
    /// The settings within the administrator's bounds; nil where keychains never lock by
    /// themselves.
    func inForce(_ settings: KeychainSettings) -> KeychainSettings?
    func lockState(of keychain: OpenKeychain) -> KeychainStatus.LockState
    var usesKernelKeyring: Bool { get }
    /// nil where class keys are not sealed with a vault key.
    var vaultKeyPlace: ServiceStatus.VaultKeyPlace? { get }
}

/// How login sessions affect the locks of their users' keychains.
package protocol LoginVault: Sendable {
    /// Waits until the user's accepted unlocks are done: the first login makes the keychain's file.
    func waitForPendingUnlocks(of user: UInt32)
    /// The keys to resync with once the keychain's own password was given, where a login of the
    /// user had another password.
    func renewal(of keychain: OpenKeychain) -> PasswordKeys?
    /// Whether a live login of the user had another password than the keychain, and the two were
    /// not resynced since.
    func isOutOfStep(_ keychain: OpenKeychain) -> Bool
    /// Notes that the passwords of the keychain and the login agree again, or are meant to differ.
    func endRenewal(of keychain: OpenKeychain)
    func lockReason(of keychain: OpenKeychain, for caller: Caller) -> LockReason
    /// Whether the caller's login session is known.
    func knowsSession(of caller: Caller) -> Bool
}

/// Both protocols, as the service needs them.
package typealias KeyVault = ClassKeyVault & LoginVault

/// Class keys for one request, and the unlocks that they came from.
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
        // Read first: an unlock that ends while the keys are taken would be missed otherwise.
        let unlocks = unlocks(of: keychain)
        return TakenKeys(try keys(of: keychain), unlocks)
    }
}

/// A keychain whose file is open; its class keys may be absent. A class, as each step of a request
/// passes it on.
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

/// A keychain's owner, and its name among the owner's keychains.
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
    /// Whether it is the machine's keychain, which no login opens.
    package var isSystem: Bool { name == .system }
    /// The name in answers to queries that name no keychain; nil for the login keychain, where most
    /// items are.
    package var nameToTell: String? { name == .login ? nil : name.description }
}

/// A login that opened a keychain, and the terms on which its unlock ends.
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
        /// The unlocks by these logins, alive or not; empty for a locked keychain.
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

/// Tells whether a running request may still use its class keys. A request can take long, as its
/// reader likes; and an unlock can end in ways that notify no request.
package struct UnlockWatch: Sendable {
    /// Items of a long change between two checks of the unlock.
    private static let itemsBetweenLooks = 64

    private let keychain: OpenKeychain
    private let vault: any ClassKeyVault
    private let unlocks: Unlocks
    private var items = 0

    /// Must be made before the keys are taken, so that no end of an unlock falls in between.
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

    /// Throws `.locked` where the unlocks no longer give keys of that availability.
    package func check(_ availability: Accessibility.Availability) throws(RequestError) {
        guard vault.lasts(unlocks, of: keychain, for: availability) else { throw .state(.locked) }
    }

    /// Does `check` for every 64th item of many.
    package mutating func checkNowAndThen(_ availability: Accessibility.Availability)
        throws(RequestError)
    {
        defer { items += 1 }
        guard items.isMultiple(of: Self.itemsBetweenLooks) else { return }
        try check(availability)
    }
}

/// The numbers of locks that a keychain had when an unlock began.
package struct LockGeneration: Sendable, Equatable {
    fileprivate var ofKeychain: UInt64 = 0
    fileprivate var ofUser: UInt64 = 0
    /// How often all keys were removed, even those that a lock leaves.
    fileprivate var forgets: UInt64 = 0

    /// Whether the keys that a lock leaves are the same in both generations.
    package func isSameUnlessLocked(_ other: LockGeneration) -> Bool { forgets == other.forgets }
}

/// Counts how often each keychain was locked, so that an unlock which began before a lock, and
/// takes a while to derive its key, does not undo it.
package final class LockCounts: Sendable {
    private struct Counts {
        /// Users whose keys a lock removes. Every request asks whether its user is one of them: the
        /// flag is cheaper than the set.
        private var changing: Set<UInt32> = []
        private var areChanging = false
        var ofKeychains: [KeychainID: UInt64] = [:]
        /// Locks of all keychains of a user.
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

        func isChanging(_ user: UInt32) -> Bool { areChanging && changing.contains(user) }

        mutating func beginChange(of user: UInt32) {
            changing.insert(user)
            areChanging = true
        }

        mutating func endChange(of user: UInt32) {
            changing.remove(user)
            areChanging = !changing.isEmpty
        }
    }

    /// Every request reads the counts, so this lock is never held while keys are written or
    /// removed.
    private let counts = ShortLock(Counts())
    /// Serialises the writing and the removing of each user's keys: a user who locks again and
    /// again delays no other.
    private let turns = UserTurns(atOnce: .max)
    /// The function in a type of its own. A lock hands out its value as a generic one: a bare
    /// closure is wrapped for that and the wrapped one is written back, so that each look would
    /// make every later call deeper, until the stack ends.
    private struct Observer: Sendable {
        let call: @Sendable (Change) -> Void
    }
    private let observer = ShortLock<Observer?>(nil)

    package init() {}

    /// Keychains that were locked, or opened.
    package enum Change: Sendable {
        case keychain(KeychainID)
        case all([UInt32])
    }

    /// `observer` is called after each change, on the thread that makes it.
    package func observe(_ observer: @escaping @Sendable (Change) -> Void) {
        self.observer.withLock { $0 = Observer(call: observer) }
    }

    private func tell(_ change: Change) { observer.withLock { $0 }?.call(change) }

    /// The present generation. Waits for a lock that is removing keys of the same user: keys read
    /// afterwards are without them.
    package func now(_ keychain: KeychainID) -> LockGeneration {
        let user = keychain.user
        let now = counts.withLock { $0.isChanging(user) ? nil : $0.now(keychain) }
        return now ?? turns.take(for: user) { counts.withLock { $0.now(keychain) } }
    }

    /// Counts with `count`, and removes keys of the user's with `body` before a request sees the
    /// new count.
    private func change(
        of user: UInt32, _ count: (inout Counts) -> Void,
        _ body: () throws(RequestError) -> Void
    ) throws(RequestError) {
        try turns.take(for: user) { () throws(RequestError) in
            counts.withLock { counts in
                counts.beginChange(of: user)
                count(&counts)
            }
            defer { counts.withLock { $0.endChange(of: user) } }
            try body()
        }
    }

    /// Removes the keys with `body`; no key is kept meanwhile.
    package func lock(_ keychain: KeychainID, _ body: () throws(RequestError) -> Void)
        throws(RequestError)
    {
        defer { tell(.keychain(keychain)) }
        try change(of: keychain.user, { $0.ofKeychains[keychain, default: 0] &+= 1 }, body)
    }

    /// Removes the keys of all of the user's keychains with `body`; none of them is kept meanwhile.
    package func lockAll(of user: UInt32, _ body: () -> Void) {
        defer { tell(.all([user])) }
        try? change(of: user, { $0.ofUsers[user, default: 0] &+= 1 }, body)
    }

    /// Removes every key of the keychain with `body`, even those that a lock leaves.
    package func forget(_ keychain: KeychainID, _ body: () throws(RequestError) -> Void)
        throws(RequestError)
    {
        defer { tell(.keychain(keychain)) }
        try change(
            of: keychain.user,
            { counts in
                counts.ofKeychains[keychain, default: 0] &+= 1
                counts.forgetsOfKeychains[keychain, default: 0] &+= 1
            }, body)
    }

    /// Removes every key of all of the users' keychains with `body`, user by user.
    package func forgetAll(of users: [UInt32], _ body: (UInt32) -> Void) {
        defer { tell(.all(users)) }
        for user in users {
            try? change(
                of: user,
                { counts in
                    counts.ofUsers[user, default: 0] &+= 1
                    counts.forgetsOfUsers[user, default: 0] &+= 1
                }, { body(user) })
        }
    }

    /// Keeps keys with `body`, unless the keychain has been locked since.
    package func keep(
        _ keychain: KeychainID, since moment: LockGeneration,
        _ body: () throws(RequestError) -> Void
    ) throws(RequestError) {
        try turns.take(for: keychain.user) { () throws(RequestError) in
            guard counts.withLock({ $0.now(keychain) }) == moment else { throw .state(.locked) }
            try body()
        }
        tell(.keychain(keychain))
    }
}
