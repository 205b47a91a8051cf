// SPDX-License-Identifier: Apache-2.0
package import KeychainAccessControl
package import KeychainModel
package import KeychainPolicyModel
package import KeychainSecrets
internal import FoundationEssentials
internal import KeychainMessages

/// Asks for what the judge requires, once for a whole request, and remembers what was proven. A
/// class, as each request passes it on.
package final class Authentication: Sendable {
    private let authenticator: any Authenticator
    private let store: EvidenceStore

    package init(_ authenticator: any Authenticator, _ store: EvidenceStore) {
        self.authenticator = authenticator
        self.store = store
    }

    package func mayAsk(_ ui: ItemQuery.AuthenticationUI, for client: any Client) -> Bool {
        ui == .allow && client.context?.mayInteract != false && authenticator.canAsk(for: client)
    }

    /// What users let programs have for a session.
    package var trust: SessionTrust { store.trust }

    /// What the user says to a program that asks for another one's item, if there is one.
    /// `.cancelled` is a no.
    package func consent(
        for client: any Client, _ candidate: () -> (question: Question, options: ConsentOptions)?
    ) throws(RequestError) -> ConsentResult? {
        try authenticator.consent(for: client, candidate)
    }

    /// Has the user open a keychain. A user who could not be asked hears that it is locked.
    package func open(
        _ prompt: String, _ question: Question, for client: any Client, unless isOpen: () -> Bool,
        with opens: (HeldSecret) throws(RequestError) -> Bool
    ) throws(RequestError) {
        do throws(RequestError) {
            try authenticator.open(prompt, question, for: client, unless: isOpen, with: opens)
        } catch {
            switch error {
            case .refused(.interactionNotAllowed), .refused(.tooManyRequests): throw .state(.locked)
            default: throw error
            }
        }
    }

    /// Whether the question would be put now, if the request allowed it.
    package func wouldAsk(_ question: Question, for client: any Client) -> Bool {
        authenticator.wouldAsk(question, for: client)
    }

    /// A password that the user makes up.
    package func newPassword(
        _ question: Question, for client: any Client
    ) throws(RequestError) -> HeldSecret {
        try authenticator.newPassword(question, for: client)
    }

    package func hasPrompter(for caller: Caller) -> Bool { authenticator.hasPrompter(for: caller) }

    /// What the client's user could be asked to prove.
    package func provable(for client: any Client) -> Set<PolicyMethod> {
        authenticator.provable(for: client.caller)
    }

    package func hasBiometryService() -> Bool { authenticator.hasBiometryService() }

    package func enrolledBiometry(of caller: Caller) -> [UInt8] {
        authenticator.enrolledBiometry(of: caller)
    }

    /// What was proven before and may serve again.
    package func evidence(for client: any Client) -> Evidence { store.evidence(for: client) }

    package func forget(_ user: UInt32) { store.forget(user) }

    package func endContext(of client: any Client) { store.forgetContext(of: client) }

    /// Returns all items of the proofs that ended.
    package func endProofs(
        about items: [ItemReference], of client: any Client
    ) -> [ItemReference] {
        store.forget(about: items, of: client.caller)
    }

    /// What the user proves to meet the requirement, or the refusal that came of asking.
    ///
    /// Where a reader or a second device does not do, another way is tried, if there is one.
    package func satisfy(
        _ requirement: Requirement, _ question: Question, given evidence: Evidence,
        for client: any Client
    ) throws(RequestError) -> [PolicyMethod] {
        var available = provable(for: client)
        var proven: [PolicyMethod] = []
        // The judge has weighed the evidence before: what seems to meet all of the requirement is too old
        // for it, or was given for something else. Left in, it would end the question before it is put.
        let isSpent =
            requirement.cheapestProof(given: evidence, available: available)?.isEmpty ?? false
        let evidence = isSpent ? Evidence() : evidence
        while true {
            let known = proven.reduce(evidence) { $0.adding($1) }
            guard let proof = requirement.cheapestProof(given: known, available: available) else {
                throw .refused(.authenticationFailed)
            }
            guard let next = proof.first else { break }
            do throws(RequestError) {
                if next.approver != nil {
                    let names = requirement.approvals(besides: available)
                        .filter { !proven.contains($0) }.compactMap(\.approver)
                    let name = try authenticator.approval(by: names, question, for: client)
                    proven.append(.approval(by: name))
                } else {
                    try authenticator.prove(next, question, for: client)
                    proven.append(next)
                }
            } catch {
                guard error == .refused(.authenticationFailed), next.mayFailWithoutFault else {
                    throw error
                }
                available.remove(next)
            }
        }
        return proven
    }

    /// Keeps what was proven for later requests. Call it after `checkClient`: the client may have
    /// become another program while the user typed.
    package func keep(
        _ proven: [PolicyMethod], for client: any Client, about items: [ItemReference]
    ) {
        store.add(proven, for: client, about: items)
    }

    /// What the client's user types as the application password of an item.
    package func applicationPassword(
        _ question: Question, isNew: Bool, for client: any Client
    ) throws(RequestError) -> HeldSecret {
        let typed = try authenticator.ask("Application password: ", question, for: client)
        guard isNew else { return typed }
        let again = try authenticator.ask("The same again: ", question, for: client)
        guard typed.bytes.matches(again.bytes) else { throw .refused(.authenticationFailed) }
        return typed
    }
}

extension PolicyMethod {
    /// A wet finger, a key that is not plugged in.
    fileprivate var mayFailWithoutFault: Bool {
        self == .factor(.biometry) || self == .factor(.companion)
    }
}

extension RequestError {
    package init(_ denial: Denial) {
        switch denial {
        case .unknownItem: self = .state(.notFound)
        case .impossible: self = .refused(.authenticationFailed)
        case .forbidden: self = .refused(.forbidden)
        case .locked: self = .state(.locked)
        case .passcodeNotSet: self = .state(.passcodeNotSet)
        case .interactionNotAllowed: self = .refused(.interactionNotAllowed)
        }
    }
}

/// Programs that their user lets have an item for as long as a login session lives.
///
/// What is allowed is a sealed record besides, like a proof (`EvidenceStore`), and ends with the
/// session and whenever proofs end.
package final class SessionTrust: Sendable {
    private static let longest: Duration = .seconds(12 * 3600)
    /// Of one user; the oldest give way.
    private static let most = 64
    private static let prefix = "trust:"
    private static let moment: UInt32 = 60

    private let keyring: (any ProofRecords)?
    private let allowed: ShortLock<[UInt32: [Allowance]]>

    init(keyring: (any ProofRecords)?) {
        self.keyring = keyring
        var kept: [UInt32: [Allowance]] = [:]
        if let keyring {
            for user in keyring.users() { kept[user] = Self.recorded(user, keyring) }
        }
        allowed = ShortLock(kept)
    }

    private static func recorded(_ user: UInt32, _ keyring: any ProofRecords) -> [Allowance] {
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
        guard caller.session != nil else { return false }
        return allow(item, for: caller, seconds: nil)
    }

    /// For the caller's program a minute long, in the caller's session or, like the caller, in none.
    package func allowForMoment(_ item: ItemReference, for caller: Caller) {
        _ = allow(item, for: caller, seconds: Self.moment)
    }

    private func allow(_ item: ItemReference, for caller: Caller, seconds: UInt32?) -> Bool {
        guard let identity = caller.identifier, let strength = caller.strength else {
            return false
        }
        let allowance = Allowance(
            name: Self.prefix + String(UInt64.random(in: .min ... .max), radix: 16),
            identity: identity, strength: strength.rawValue, session: caller.session?.rawValue,
            item: item.bytes, given: .now, seconds: seconds)
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
            let longest = allowance.seconds.map { .seconds($0) } ?? Self.longest
            return age >= .zero && age < longest && allowance.isFor(caller)
                && isAlive(allowance, caller.user)
        }.compactMap { ItemReference(bytes: $0.item) }
    }

    // MARK: Forgetting

    package func forget(_ user: UInt32) { forget(of: user) { _ in true } }

    /// What was allowed in a session that ended; with the user's last one, to programs in no session,
    /// too.
    package func forget(_ session: SessionID, of user: UInt32, isLast: Bool) {
        forget(of: user) { $0.session.map { $0 == session.rawValue } ?? isLast }
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

    // MARK: Beyond this process

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
        keyring?.holds(allowance.name, of: user) ?? true
    }

    private struct Allowance: Codable {
        let name: String
        let identity: String
        let strength: UInt8
        /// nil: the program runs in none.
        let session: Int32?
        let item: [UInt8]
        let given: ContinuousClock.Instant
        /// nil: as long as the session.
        let seconds: UInt32?

        func isFor(_ caller: Caller) -> Bool {
            guard let strength = caller.strength else { return false }
            return session == caller.session?.rawValue && self.strength <= strength.rawValue
                && caller.identifier?.utf8.elementsEqual(identity.utf8) == true
        }
    }
}
