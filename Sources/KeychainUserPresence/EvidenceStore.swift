// SPDX-License-Identifier: Apache-2.0
package import KeychainAccessControl
internal import KeychainMessages
package import KeychainModel
package import KeychainPolicyModel
internal import KeychainSecrets

/// Proofs by method, user and place, for as long as they may serve later requests. A decision is
/// never kept.
///
/// In the daemon each proof is also a sealed record, which ends by itself: a restarted daemon reads
/// the proof again, and a proof whose record has gone no longer counts. Time goes on while the
/// machine sleeps.
package final class EvidenceStore: Sendable {
    /// No policy can make use of a proof that is older than this.
    private static let longest: Duration = .seconds(12 * 3600)
    /// The most proofs of one user. Beyond it the oldest proof of the program with the most proofs
    /// is removed, so that no program can push out another program's.
    static let most = 64

    /// The programs that the user trusts for a session. This trust ends when proofs end.
    package let trust: SessionTrust
    private let keyring: (any ProofRecords)?
    private let proofs: ShortLock<[UInt32: [Proof]]>

    /// Without a keyring proofs live as long as this process.
    package init(keyring: (any ProofRecords)?) {
        self.keyring = keyring
        trust = SessionTrust(keyring: keyring)
        var kept: [UInt32: [Proof]] = [:]
        if let keyring {
            for user in keyring.users() { kept[user] = Self.recorded(user, keyring) }
        }
        proofs = ShortLock(kept)
    }

    private static func recorded(_ user: UInt32, _ keyring: any ProofRecords) -> [Proof] {
        let names = (try? keyring.names(of: user)) ?? []
        return names.filter { $0.hasPrefix(Proof.prefix) }.compactMap { name in
            guard let record = keyring.read(name, of: user) else { return nil }
            return Proof(record.releasedFromLockedMemory())
        }.sorted { $0.given < $1.given }
    }

    // MARK: Giving and taking

    /// Keeps a proof by the client's user, with the context, process, terminal and session that it
    /// was given in. A proof that can't be kept serves this request only. A confirmation counts
    /// only for the program and the items that the question named.
    package func add(
        _ methods: [PolicyMethod], for client: any Client, about items: [ItemReference] = []
    ) {
        for method in methods {
            var proof = Proof(
                method: method, given: .now, context: client.context?.identifier,
                places: client.places)
            proof.program = client.caller.consentName
            if method == .factor(.confirm) {
                guard let program = client.caller.consentName,
                    (1...ProofLimits.mostItems).contains(items.count)
                else { continue }
                proof.consent = Proof.Consent(program: program, items: items.map(\.bytes))
            }
            if client.caller.via != nil {
                proof.isRelayed = true
                proof.relayed = relayed(client.caller, items)
            }
            keep(proof, client.caller.user)
        }
    }

    /// nil where the program can't be told from others, or the items are too many.
    private func relayed(_ caller: Caller, _ items: [ItemReference]) -> Proof.Relayed? {
        guard let program = caller.identifier, let strength = caller.strength,
            (1...ProofLimits.mostItems).contains(items.count)
        else { return nil }
        return Proof.Relayed(
            program: program, strength: strength.rawValue, items: items.map(\.bytes))
    }

    func keep(_ proof: Proof, _ user: UInt32) {
        guard keyring == nil || write(proof, user) else { return }
        let surplus = proofs.withLock { proofs in
            proofs[user, default: []].append(proof)
            var surplus: [Proof] = []
            while let kept = proofs[user], kept.count > Self.most {
                surplus.append(kept[Self.first(toGiveWay: kept)])
                proofs[user]?.remove(at: Self.first(toGiveWay: kept))
            }
            return surplus
        }
        for old in surplus { keyring?.remove(old.name, of: user) }
    }

    private static func first(toGiveWay proofs: [Proof]) -> Int {
        var counts: [String?: Int] = [:]
        for proof in proofs { counts[proof.program, default: 0] += 1 }
        let most = counts.values.max()
        return proofs.firstIndex { counts[$0.program] == most } ?? 0
    }

    /// The proofs that may serve the client, each with its age and the narrowest place that it
    /// shares with the client. A proof given in the client's own context counts as new while the
    /// context lives: a program that does not want it used again ends the context, or asks for the
    /// scope `operation`.
    package func evidence(for client: any Client) -> Evidence {
        let user = client.caller.user
        let kept = proofs.withLock { $0[user] ?? [] }
        guard !kept.isEmpty else { return Evidence() }
        lazy var terminal = client.terminal()
        let now = ContinuousClock.now
        var proofs: [PolicyProof] = []
        var ofItems: [ItemReference: [PolicyProof]] = [:]
        for proof in kept {
            let age = proof.given.duration(to: now)
            // A proof from the future, where a clock is wrong, is worthless.
            guard age >= .zero, age < Self.longest else { continue }
            if let relayed = proof.relayed, proof.isFresh(for: client.caller, age),
                isAlive(proof, user)
            {
                let fresh = PolicyProof(proof.method, age: .zero, scope: .context)
                for item in relayed.items.compactMap(ItemReference.init(bytes:)) {
                    ofItems[item, default: []].append(fresh)
                }
            }
            guard
                let scope = proof.scope(for: client, terminal: terminal),
                isAlive(proof, user)
            else { continue }
            let known = PolicyProof(
                proof.method, age: scope == .context ? .zero : PolicyDuration(age), scope: scope)
            guard let consent = proof.consent else {
                proofs.append(known)
                continue
            }
            guard consent.program == client.caller.consentName else { continue }
            for item in consent.items.compactMap(ItemReference.init(bytes:)) {
                ofItems[item, default: []].append(known)
            }
        }
        return Evidence(proofs, ofItems: ofItems)
    }

    /// Keeps that the session began with the password. The password was typed for the login and for
    /// no program: `login` is a method of its own, which meets only a rule that names it.
    package func addLogin(of user: UInt32, in session: SessionID) {
        var places = ProofOrigin()
        places.session = session.rawValue
        keep(Proof(method: .factor(.login), given: .now, context: nil, places: places), user)
    }

    // MARK: Forgetting

    /// Forgets all of the user's proofs: the keychain was locked, or its password changed.
    package func forget(_ user: UInt32) {
        forget(of: user) { _ in true }
        trust.forget(user)
    }

    /// Forgets the proofs of all users.
    package func forgetAll() {
        for user in proofs.withLock({ Array($0.keys) }) { forget(user) }
    }

    /// Forgets the proofs of a session that ended. With the user's last one go those of programs in
    /// no session: the service manager that starts them may outlive its user's logins.
    package func forget(_ session: SessionID, of user: UInt32, isLast: Bool) {
        forget(of: user) {
            $0.places.session.map { $0 == session.rawValue } ?? isLast
        }
        trust.forget(session, of: user, isLast: isLast)
    }

    /// Forgets the proofs given in the client's context.
    func forgetContext(of client: any Client) {
        guard let context = client.context?.identifier else { return }
        let process = client.process
        forget(of: client.caller.user) {
            $0.context == context && $0.places.process == process
        }
    }

    /// Forgets the proofs that let the caller's program have any of the items through a deputy.
    /// Such a proof is forgotten as a whole, also where it covers further items. Returns all items
    /// of the forgotten proofs, each once.
    func forget(about items: [ItemReference], of caller: Caller) -> [ItemReference] {
        let meant = Set(items.map(\.bytes))
        let gone = forget(of: caller.user) { proof in
            guard let relayed = proof.relayed,
                caller.identifier?.utf8.elementsEqual(relayed.program.utf8) == true
            else { return false }
            return relayed.items.contains(where: meant.contains)
        }
        let ended = Set(gone.lazy.compactMap(\.relayed).flatMap(\.items))
        return ended.compactMap(ItemReference.init(bytes:))
    }

    @discardableResult
    private func forget(of user: UInt32, _ isMeant: (Proof) -> Bool) -> [Proof] {
        let gone = proofs.withLock { proofs in
            let gone = (proofs[user] ?? []).filter(isMeant)
            proofs[user]?.removeAll(where: isMeant)
            if proofs[user]?.isEmpty == true { proofs[user] = nil }
            return gone
        }
        for proof in gone { keyring?.remove(proof.name, of: user) }
        return gone
    }

    // MARK: Beyond this process

    private func write(_ proof: Proof, _ user: UInt32) -> Bool {
        guard let record = proof.record else { return false }
        let seconds = UInt32(Self.longest.components.seconds)
        return
            (try? keyring?.write(
                proof.name, SecretBytes(copying: record), of: user, timeoutSeconds: seconds)) != nil
    }

    private func isAlive(_ proof: Proof, _ user: UInt32) -> Bool {
        keyring?.holds(proof.name, of: user) ?? true
    }
}

extension Caller {
    /// The program that a confirmation counts for. A deputy's programs that can't be told apart
    /// count as one: each has the items that the others store.
    fileprivate var consentName: String? {
        identifier ?? (via == nil ? nil : accessGroups.first)
    }
}
