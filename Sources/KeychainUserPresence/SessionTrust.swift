// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import KeychainMessages
package import KeychainModel
internal import KeychainSecrets

/// Programs that their user lets have an item for as long as a login session lives.
///
/// What is allowed is a key in the kernel's keyring besides, like a proof (`EvidenceStore`), and ends
/// with the session and whenever proofs end.
package final class SessionTrust: Sendable {
    private static let longest: Duration = .seconds(12 * 3600)
    /// Of one user; the oldest give way.
    private static let most = 64
    private static let prefix = "trust:"

    private let keyring: (any ProofKeyring)?
    private let allowed: ShortLock<[UInt32: [Allowance]]>

    init(keyring: (any ProofKeyring)?) {
        self.keyring = keyring
        var kept: [UInt32: [Allowance]] = [:]
        if let keyring {
            for user in keyring.users() { kept[user] = Self.recorded(user, keyring) }
        }
        allowed = ShortLock(kept)
    }

    private static func recorded(_ user: UInt32, _ keyring: any ProofKeyring) -> [Allowance] {
        let names = (try? keyring.names(of: user)) ?? []
        return names.filter { $0.hasPrefix(prefix) }.compactMap { name in
            guard let record = keyring.read(name, of: user)?.releasedFromLockedMemory() else {
                return nil
            }
            return try? JSONDecoder().decode(Allowance.self, from: Data(record))
        }.sorted { $0.given < $1.given }
    }

    // MARK: Allowing

    /// For the caller's program in the caller's session. False where it can't be kept: then it was
    /// for once.
    @discardableResult
    package func allow(_ item: ItemReference, for caller: Caller) -> Bool {
        guard let session = caller.session, let identity = caller.identifier,
            let strength = caller.strength
        else { return false }
        let allowance = Allowance(
            name: Self.prefix + String(UInt64.random(in: .min ... .max), radix: 16),
            identity: identity, strength: strength.rawValue, session: session.rawValue,
            item: item.bytes, given: .now)
        guard write(allowance, caller.user) else { return false }
        let surplus = allowed.withLock { allowed in
            allowed[caller.user, default: []].append(allowance)
            let surplus = max(0, allowed[caller.user, default: []].count - Self.most)
            let oldest = Array(allowed[caller.user, default: []].prefix(surplus))
            allowed[caller.user]?.removeFirst(surplus)
            return oldest
        }
        for old in surplus { keyring?.remove(old.name, of: caller.user) }
        return true
    }

    /// What the caller's program may have in the caller's session.
    package func items(for caller: Caller) -> [ItemReference] {
        let kept = allowed.withLock { $0[caller.user] ?? [] }
        guard !kept.isEmpty else { return [] }
        let now = ContinuousClock.now
        return kept.filter { allowance in
            let age = allowance.given.duration(to: now)
            return age >= .zero && age < Self.longest && allowance.isFor(caller)
                && isAlive(allowance, caller.user)
        }.compactMap { ItemReference(bytes: $0.item) }
    }

    // MARK: Forgetting

    package func forget(_ user: UInt32) { forget(of: user) { _ in true } }

    package func forget(_ session: SessionID, of user: UInt32) {
        forget(of: user) { $0.session == session.rawValue }
    }

    /// Whatever was allowed of these items.
    package func forget(_ items: [ItemReference], of user: UInt32) {
        let meant = Set(items.map(\.bytes))
        forget(of: user) { meant.contains($0.item) }
    }

    private func forget(of user: UInt32, _ isMeant: (Allowance) -> Bool) {
        let gone = allowed.withLock { allowed in
            let gone = (allowed[user] ?? []).filter(isMeant)
            allowed[user]?.removeAll(where: isMeant)
            if allowed[user]?.isEmpty == true { allowed[user] = nil }
            return gone
        }
        for allowance in gone { keyring?.remove(allowance.name, of: user) }
    }

    // MARK: In the kernel

    private func write(_ allowance: Allowance, _ user: UInt32) -> Bool {
        guard let keyring else { return true }
        guard let record = try? JSONEncoder().encode(allowance) else { return false }
        let seconds = UInt32(Self.longest.components.seconds)
        return
            (try? keyring.write(
                allowance.name, SecretBytes(copying: [UInt8](record)), of: user,
                timeoutSeconds: seconds)) != nil
    }

    private func isAlive(_ allowance: Allowance, _ user: UInt32) -> Bool {
        keyring == nil || keyring?.read(allowance.name, of: user) != nil
    }

    private struct Allowance: Codable {
        let name: String
        let identity: String
        let strength: UInt8
        let session: Int32
        let item: [UInt8]
        let given: ContinuousClock.Instant

        func isFor(_ caller: Caller) -> Bool {
            guard let strength = caller.strength else { return false }
            return session == caller.session?.rawValue && self.strength <= strength.rawValue
                && caller.identifier?.utf8.elementsEqual(identity.utf8) == true
        }
    }
}
