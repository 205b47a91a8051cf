// SPDX-License-Identifier: Apache-2.0
import KeychainVaults
import KeychainItemStore
import KeychainModel
import KeychainSecrets
import Synchronization

@testable import KeychainRequestService

/// Class keys in this process's memory, of keychains that are locked and opened at a word.
final class MemoryVault: KeyVault {
    /// The bundles of an unlock.
    struct Bundles: Sendable {
        let afterFirstUnlock: HeldSecret
        let whileUnlocked: HeldSecret

        init(_ unlocked: borrowing UnlockedKeys) {
            afterFirstUnlock = HeldSecret(unlocked.afterFirstUnlock.bytes.copy())
            whileUnlocked = HeldSecret(unlocked.whileUnlocked.bytes.copy())
        }
    }
    private struct State {
        var bundles: [KeychainName: Bundles]
        var open: Set<KeychainName>
        var isOutOfStep = false
        var looks = 0
    }

    let locks = LockCounts()
    let usesKernelKeyring = false
    let vaultKeyPlace: ServiceStatus.VaultKeyPlace? = nil
    private let protectors: Protectors
    private let state: Mutex<State>

    /// Without a login keychain nothing is open yet.
    init(_ protectors: Protectors, login: Bundles? = nil) {
        self.protectors = protectors
        state = Mutex(
            login.map { State(bundles: [.login: $0], open: [.login]) }
                ?? State(bundles: [:], open: []))
    }

    /// How often a request has taken keys.
    var looks: Int { state.withLock { $0.looks } }
    func open(_ name: KeychainName) { state.withLock { _ = $0.open.insert(name) } }
    /// A login of the user's had another password than the keychain.
    func getOutOfStep() { state.withLock { $0.isOutOfStep = true } }

    func waitForPendingUnlocks(of user: UInt32) {}

    func keys(of keychain: OpenKeychain) throws(RequestError) -> ClassKeys {
        let always = try protectors.alwaysKeys(keychain)
        let (bundles, isOpen) = state.withLock { state in
            state.looks += 1
            return (state.bundles[keychain.name], state.open.contains(keychain.name))
        }
        guard let bundles else {
            return ClassKeys(always: always, afterFirstUnlock: nil, whileUnlocked: nil)
        }
        return ClassKeys(
            always: always,
            afterFirstUnlock: Self.bundle(.afterFirstUnlock, bundles.afterFirstUnlock),
            whileUnlocked: isOpen ? Self.bundle(.whileUnlocked, bundles.whileUnlocked) : nil)
    }

    /// The same whatever is locked, for tests to look with.
    func keysOfLocked(_ keychain: OpenKeychain) throws(RequestError) -> ClassKeys {
        guard let bundles = state.withLock({ $0.bundles[keychain.name] }) else {
            throw .state(.locked)
        }
        return ClassKeys(
            always: try protectors.alwaysKeys(keychain),
            afterFirstUnlock: Self.bundle(.afterFirstUnlock, bundles.afterFirstUnlock),
            whileUnlocked: Self.bundle(.whileUnlocked, bundles.whileUnlocked))
    }

    private static func bundle(_ kind: KeyBundle.Kind, _ held: HeldSecret) -> KeyBundle? {
        try? KeyBundle(kind, held.bytes.copy())
    }

    func unlocks(of keychain: OpenKeychain) -> Unlocks {
        let moment = locks.now(keychain.id)
        return Unlocks(source: isOpen(keychain) ? .user : .logins([]), moment: moment)
    }

    func lasts(
        _ unlocks: Unlocks, of keychain: OpenKeychain, for availability: Accessibility.Availability
    ) -> Bool {
        let now = locks.now(keychain.id)
        guard now.isSameUnlessLocked(unlocks.moment) else { return false }
        return availability != .whileUnlocked
            || (now == unlocks.moment && unlocks.isOpen && isOpen(keychain))
    }

    private func isOpen(_ keychain: OpenKeychain) -> Bool {
        state.withLock { $0.open.contains(keychain.name) }
    }

    func keep(
        _ unlocked: borrowing UnlockedKeys, of keychain: OpenKeychain, for caller: Caller,
        since begun: LockGeneration
    ) throws(RequestError) {
        let bundles = Bundles(unlocked)
        try locks.keep(keychain.id, since: begun) { () throws(RequestError) in
            state.withLock { state in
                state.bundles[keychain.name] = bundles
                state.open.insert(keychain.name)
            }
        }
    }

    func renewal(of keychain: OpenKeychain) -> PasswordKeys? { nil }
    func isOutOfStep(_ keychain: OpenKeychain) -> Bool { state.withLock { $0.isOutOfStep } }
    func endRenewal(of keychain: OpenKeychain) {}

    func lock(_ keychain: OpenKeychain) throws(RequestError) {
        try locks.lock(keychain.id) { () throws(RequestError) in
            state.withLock { _ = $0.open.remove(keychain.name) }
        }
    }

    func forget(_ keychain: OpenKeychain) throws(RequestError) {
        try locks.forget(keychain.id) { () throws(RequestError) in
            state.withLock { state in
                state.open.remove(keychain.name)
                state.bundles[keychain.name] = nil
            }
        }
    }

    func apply(_ settings: KeychainSettings, to keychain: OpenKeychain) throws(RequestError) {}
    func inForce(_ settings: KeychainSettings) -> KeychainSettings? { settings }
    func lockState(of keychain: OpenKeychain) -> KeychainStatus.LockState {
        isOpen(keychain) ? .unlocked : .lockedAfterFirstUnlock
    }
    func lockReason(of keychain: OpenKeychain, for caller: Caller) -> LockReason { .none }
    func knowsSession(of caller: Caller) -> Bool { true }
}
