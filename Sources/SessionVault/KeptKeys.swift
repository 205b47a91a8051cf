// SPDX-License-Identifier: Apache-2.0
internal import KeychainItemStore
internal import KeychainLinuxSystem
internal import KeychainModel
internal import KeychainSecrets
internal import KeychainVaults
internal import LoginRegistry

/// The name of a key in the kernel's keyring, and the context that its content is sealed with.
struct KeptKey: Sendable {
    let name: String
    private let keychain: [UInt8]
    private let place: [UInt8]

    init(_ name: String, _ keychain: OpenKeychain) {
        self.name = name
        self.keychain = keychain.file.identifier
        place = Array("\(keychain.user):\(name)".utf8)
    }

    func context(_ terms: AutoLockTerms?) -> [UInt8] {
        var context = ByteWriter(
            capacity: keychain.count + AutoLockTerms.byteCount + place.count)
        context.append(raw: keychain)
        terms?.write(to: &context)
        context.append(raw: place)
        return context.bytes
    }
}

/// The keys of one open keychain: the names that every request needs, and the bundle that the device
/// key opens. The device key lies in the same locked memory for good, so that the bundle beside it
/// tells nothing more.
final class KeptKeys: Sendable {
    private struct State {
        var unlocks: [SessionID: KeptKey] = [:]
        var always: HeldSecret?
    }

    let firstUnlock: KeptKey
    /// What is open of the machine's keychain.
    let machine: KeptKey
    private weak let file: KeychainFile?
    private let state = ShortLock(State())

    init(_ keychain: OpenKeychain) {
        firstUnlock = KeptKey("first-unlock:\(keychain.name)", keychain)
        machine = KeptKey("machine:\(keychain.name)", keychain)
        file = keychain.file
    }

    /// Another file may have taken the keychain's place, even one of the same identifier.
    func areOf(_ keychain: OpenKeychain) -> Bool { file === keychain.file }

    func unlock(_ session: LoginSession, _ keychain: OpenKeychain) -> KeptKey {
        if let known = state.withLock({ $0.unlocks[session.id] }) { return known }
        let key = KeptKey("unlock:\(session.id.rawValue):\(keychain.name)", keychain)
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

/// Those of the keychains that requests have been about.
final class KeptKeysOfAll: Sendable {
    /// Keychains whose keys are kept at once.
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

    /// A request under way may still have them in its hands; no later one gets them.
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
/// request that reads first waits here instead.
package final class PendingUnlocks: @unchecked Sendable {
    package static let mostForUser = 4
    package static let mostInAll = 64
    private static let longestWait: Duration = .seconds(30)

    private let condition = Condition()
    private var counts: [UInt32: Int] = [:]

    package init() {}

    /// False when too many wait already.
    package func begin(_ user: UInt32) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        let all = counts.values.reduce(0, +)
        guard all < Self.mostInAll, counts[user, default: 0] < Self.mostForUser else {
            return false
        }
        counts[user, default: 0] += 1
        return true
    }

    package func end(_ user: UInt32) {
        condition.lock()
        defer { condition.unlock() }
        counts[user, default: 1] -= 1
        if counts[user] == 0 { counts[user] = nil }
        condition.broadcast()
    }

    package func wait(for user: UInt32) {
        condition.lock()
        defer { condition.unlock() }
        let deadline = ContinuousClock.now + Self.longestWait
        while counts[user] != nil {
            guard condition.wait(until: deadline) else { return }
        }
    }
}
