// SPDX-License-Identifier: Apache-2.0
internal import KeychainItemStore
internal import KeychainLinuxSystem
internal import KeychainModel
internal import KeychainSecrets
internal import KeychainVaults
internal import KeyringStore
internal import LoginRegistry
internal import Synchronization

/// The name of a key in the kernel's keyring, and the context that its content is sealed with. A
/// class, as each request passes on its keychain's keys.
final class KeptKey: Sendable {
    let name: String
    private let keychain: [UInt8]
    private let place: [UInt8]
    /// The context of keys that are sealed without terms.
    private let plainContext: [UInt8]
    /// The context of the last terms asked for: they stay the same while an unlock lasts.
    private let latest = ShortLock<(terms: AutoLockTerms, context: [UInt8])?>(nil)

    init(_ name: String, _ keychain: OpenKeychain) {
        self.name = name
        self.keychain = keychain.file.identifier
        place = Array("\(keychain.user):\(name)".utf8)
        plainContext = self.keychain + place
    }

    func context(_ terms: AutoLockTerms?) -> [UInt8] {
        guard let terms else { return plainContext }
        if let latest = latest.withLock({ $0 }), latest.terms == terms { return latest.context }
        var context = ByteWriter(
            capacity: keychain.count + AutoLockTerms.byteCount + place.count)
        context.append(raw: keychain)
        terms.write(to: &context)
        context.append(raw: place)
        let bytes = context.bytes
        latest.withLock { $0 = (terms, bytes) }
        return bytes
    }
}

/// The keys of one open keychain: the names that every request needs, and the bundle that the
/// device key opens. The device key is in the same locked memory permanently, so the bundle beside
/// it gives nothing more away.
final class KeptKeys: Sendable {
    private struct State {
        var unlocks: [SessionID: KeptKey] = [:]
        var always: HeldSecret?
    }

    let firstUnlock: KeptKey
    /// The name of the when-unlocked keys of the machine's keychain.
    let machine: KeptKey
    private let opening: KeychainFile.Opening
    private let state = ShortLock(State())

    init(_ keychain: OpenKeychain) {
        firstUnlock = KeptKey(KeyName.firstUnlock(keychain.name), keychain)
        machine = KeptKey(KeyName.machine(keychain.name), keychain)
        opening = keychain.file.opening
    }

    /// Another file may have taken the keychain's place, even one of the same identifier.
    func areOf(_ keychain: OpenKeychain) -> Bool { opening === keychain.file.opening }

    func unlock(_ session: LoginSession, _ keychain: OpenKeychain) -> KeptKey {
        if let known = state.withLock({ $0.unlocks[session.id] }) { return known }
        let key = KeptKey(KeyName.unlock(session.id, keychain.name), keychain)
        state.withLock { state in
            if state.unlocks.count >= SessionRegistry.mostSessions { state.unlocks = [:] }
            state.unlocks[session.id] = key
        }
        return key
    }

    func always() -> KeyBundle? {
        guard let held = state.withLock({ $0.always }) else { return nil }
        return try? KeyBundle(.always, held.bytes.copy())
    }

    func keep(always keys: borrowing KeyBundle) {
        let held = HeldSecret(keys.bytes.copy())
        state.withLock { $0.always = held }
    }
}

/// The keys of all keychains that requests have used.
final class KeptKeysOfAll: Sendable {
    /// The most keychains whose keys are kept at once.
    private static let most = 1024

    private let known = ShortLock<[KeychainID: KeptKeys]>([:])

    func keys(of keychain: OpenKeychain) -> KeptKeys {
        let id = keychain.id
        if let keys = known.withLock({ $0[id] }), keys.areOf(keychain) { return keys }
        let keys = KeptKeys(keychain)
        let old = known.withLock { known in
            let old = known
            if known.count >= Self.most { known = [:] }
            known[id] = keys
            return old
        }
        withExtendedLifetime(old) {}
        return keys
    }

    /// A running request may still hold the keys; no later one gets them.
    func forget(_ id: KeychainID) {
        let old = known.withLock { $0.removeValue(forKey: id) }
        withExtendedLifetime(old) {}
    }

    func forgetAll() {
        let old = known.withLock { known in
            defer { known = [:] }
            return known
        }
        withExtendedLifetime(old) {}
    }
}

/// Unlocks that were accepted and are still deriving their key. The login goes on at once; a
/// request that reads earlier waits here.
package final class PendingUnlocks: @unchecked Sendable {
    package static let mostForUser = 4
    package static let mostInAll = 64
    private static let longestWait: Duration = .seconds(30)

    private let condition = Condition()
    private var counts: [UInt32: Int] = [:]
    /// The number for all users, as most requests come while there is none.
    private let all = Atomic(0)

    package init() {}

    /// Returns false when too many are pending.
    package func begin(_ user: UInt32) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        guard all.load(ordering: .relaxed) < Self.mostInAll,
            counts[user, default: 0] < Self.mostForUser
        else { return false }
        counts[user, default: 0] += 1
        all.add(1, ordering: .releasing)
        return true
    }

    package func end(_ user: UInt32) {
        condition.lock()
        defer { condition.unlock() }
        counts[user, default: 1] -= 1
        if counts[user] == 0 { counts[user] = nil }
        all.subtract(1, ordering: .releasing)
        condition.broadcast()
    }

    package var isUnderWay: Bool { all.load(ordering: .acquiring) > 0 }

    package func wait(for user: UInt32) {
        guard all.load(ordering: .acquiring) > 0 else { return }
        condition.lock()
        defer { condition.unlock() }
        let deadline = ContinuousClock.now + Self.longestWait
        while counts[user] != nil {
            guard condition.wait(until: deadline) else { return }
        }
    }
}

/// When open keychains were last used, by which "idle" is counted.
///
/// A restarted daemon counts from its start.
final class IdleTracker: Sendable {
    private struct Use {
        var last: Duration
        var terms: AutoLockTerms
    }

    private let uses = ShortLock<[KeychainID: Use]>([:])
    private let bound = ShortLock(KeychainSettings.loosest)

    /// The administrator's bounds.
    var bounds: KeychainSettings { bound.withLock { $0 } }

    func bind(to bounds: KeychainSettings) { bound.withLock { $0 = bounds } }

    func begin(_ keychain: KeychainID, _ terms: AutoLockTerms) {
        uses.withLock { $0[keychain] = Use(last: terms.begun, terms: terms) }
    }

    /// Changes the settings of the same unlock.
    func change(_ keychain: KeychainID, _ terms: AutoLockTerms) {
        uses.withLock { $0[keychain]?.terms = terms }
    }

    /// The time left of an unlock; `.zero` when it is over, nil where it has no end.
    func rest(of terms: AutoLockTerms, _ keychain: KeychainID) -> Duration? {
        let now = Duration.sinceBoot
        return uses.withLock { uses in
            guard let place = uses.index(forKey: keychain) else {
                uses[keychain] = Use(last: now, terms: terms)
                return terms.rest(lastUse: now, at: now)
            }
            return terms.rest(lastUse: uses.values[place].last, at: now)
        }
    }

    func note(_ keychain: KeychainID) {
        let now = Duration.sinceBoot
        uses.withLock { uses in
            if let place = uses.index(forKey: keychain) { uses.values[place].last = now }
        }
    }

    /// Forgets a keychain that was locked for another reason.
    func end(_ keychain: KeychainID) { uses.withLock { $0[keychain] = nil } }

    func endAll(of user: UInt32) {
        uses.withLock { uses in uses = uses.filter { $0.key.user != user } }
    }

    /// Whether the keychain was locked because its time ran out.
    func hasRunOut(_ keychain: KeychainID) -> Bool {
        let (now, bounds) = (Duration.sinceBoot, bounds)
        return uses.withLock { uses in
            uses[keychain].map {
                $0.terms.tightened(by: bounds).rest(lastUse: $0.last, at: now) == .zero
            } ?? false
        }
    }
}
