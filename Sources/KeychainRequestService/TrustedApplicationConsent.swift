// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import KeychainAccessControl
internal import KeychainItemStore
internal import KeychainLinuxSystem
internal import KeychainMessages
internal import KeychainModel
internal import KeychainPolicyModel
internal import KeychainRequestAudit
internal import KeychainUserPresence
internal import KeychainVaults

/// An item of another program's that the user lets the asking one have.
struct Consent: Sendable {
    let item: ItemReference
    let choice: TrustChoice
    /// What the user has proven on that occasion: good for this request and not kept.
    let evidence: Evidence
}

/// The item that the user could be asked about, and what they may choose.
struct ConsentCandidate {
    let item: SealedItem
    let question: Question
    let options: ConsentOptions
}

/// Lets the user give a program an item that belongs to another one.
protocol ConsentStep: Sendable {
    /// nil is "not found": wherever no question is put, the client hears the same as of an item that
    /// is not there.
    func candidate(_ search: SearchPass, _ access: Authorization) -> ConsentCandidate?
    /// Items of other programs that a search meets, each with whether it is open to the client; of the
    /// others those that the user could be asked about.
    func othersItems(
        _ query: ItemQuery, _ access: Authorization
    ) -> [(item: SealedItem, isOpen: Bool)]
    func settle(
        _ result: ConsentResult, on item: SealedItem, for client: any Client
    ) -> Consent
    /// Writes the program into the list of the item that its user has let it have.
    func list(_ search: SearchPass, _ access: Authorization) throws(RequestError)
}

/// Asks the user about an item that has a list of programs (docs/design/proofs.md, Trusted
/// applications).
struct TrustedApplicationConsent: ConsentStep {
    /// Items of the same name that are looked at, of whichever program.
    private static let mostCandidates = 8

    let authentication: Authentication

    /// An item that the user may be asked about if all else allows it. Whatever goes wrong is no more
    /// than nothing found.
    func candidate(_ search: SearchPass, _ access: Authorization) -> ConsentCandidate? {
        let caller = access.client.caller
        var query = search.query
        query.limit = Self.mostCandidates
        let given = authentication.evidence(for: access.client)
        guard caller.strength != nil, let keys = try? access.keys,
            let found = try? access.keychain.file.find(
                query, in: .askable(besides: search.groups.all), keys: keys.classKeys),
            !found.isEmpty,
            let reading = try? context(
                access.intent, admitting: .trusted, access, keys, given: given),
            let changing = try? context(
                access.intent.judged(as: .changeACL), admitting: .mayChange, access, keys,
                given: given)
        else { return nil }
        for item in found {
            guard mayAsk(for: item, reading, given, access.service),
                let options = options(of: item, reading, changing, caller)
            else { continue }
            return ConsentCandidate(
                item: item, question: question(about: item, access), options: options)
        }
        return nil
    }

    func othersItems(
        _ query: ItemQuery, _ access: Authorization
    ) -> [(item: SealedItem, isOpen: Bool)] {
        let caller = access.client.caller
        let allowed = Set(authentication.trust.items(for: caller))
        let given = authentication.evidence(for: access.client)
        guard let groups = try? access.groups(query), let keys = try? access.keys,
            let found = try? access.keychain.file.find(
                query, in: .askable(besides: groups.all), keys: keys.classKeys),
            !found.isEmpty,
            let reading = try? context(
                access.intent, admitting: .trusted, access, keys, given: given),
            let changing = try? context(
                access.intent.judged(as: .changeACL), admitting: .mayChange, access, keys,
                given: given)
        else { return [] }
        return found.compactMap { item in
            let isLetIn =
                allowed.contains(item.reference) || item.trusted?.names(caller.identity) == true
            let needsProof: Bool
            switch reading.judge(item, given) {
            case .deny: return nil
            case .allow: needsProof = false
            case .allowAfter: needsProof = true
            }
            guard isLetIn || options(of: item, reading, changing, caller) != nil else {
                return nil
            }
            return (item, isLetIn && !needsProof)
        }
    }

    private func context(
        _ intent: Intent, admitting admission: AccessRequest.Admission, _ access: Authorization,
        _ keys: RequestKeys, given evidence: Evidence
    ) throws(RequestError) -> AuthorizationContext {
        let scope = ItemScope(groups: access.client.caller.accessGroups) {
            $0.admission = { _ in admission }
        }
        return try access.service.context(intent, access, keys, scope, given: evidence)
    }

    private func question(about item: SealedItem, _ access: Authorization) -> Question {
        Question(
            .read, names: [item.shownName], itemCount: 1, items: [item.reference],
            reason: access.intent.reason ?? access.client.context?.reason,
            remarks: ["The item belongs to \(ProgramName.shown(item.accessGroup))."]
                + access.client.caller.identity.remarks)
    }

    private func mayAsk(
        for item: SealedItem, _ reading: AuthorizationContext, _ given: Evidence,
        _ service: KeychainService
    ) -> Bool {
        if case .deny = reading.judge(item, given) { return false }
        return service.isWithinLimits(item, reading)
    }

    /// What may be chosen, each with the proof that it takes. Without a password no user can be
    /// proven to be the keychain's owner, so that none is asked.
    private func options(
        of item: SealedItem, _ reading: AuthorizationContext, _ changing: AuthorizationContext,
        _ caller: Caller
    ) -> ConsentOptions? {
        let presence = Requirement(.factor(.presence))
        guard reading.circumstances.keychain.isPasscodeSet == true,
            let proof = presence.cheapestProof(available: reading.circumstances.provable)
        else { return nil }
        var options = ConsentOptions()
        options.proofs[.once] = proof
        if caller.session != nil { options.proofs[.session] = proof }
        let count = item.trusted?.applications.count ?? 0
        guard count < TrustList.mostApplications else { return options }
        let listing: Requirement
        switch changing.judge(item, Evidence()) {
        case .allow: listing = presence
        case .allowAfter(let asked): listing = .all([presence, asked])
        case .deny: return options
        }
        options.proofs[.always] = listing.cheapestProof(
            available: reading.circumstances.provable)
        return options
    }

    func settle(
        _ result: ConsentResult, on item: SealedItem, for client: any Client
    ) -> Consent {
        var choice = result.choice
        if choice == .session, !authentication.trust.allow(item.reference, for: client.caller) {
            choice = .once
        }
        // Through a deputy a program asks for the secret itself only then, on whatever connection.
        if choice == .once, client.caller.via != nil {
            authentication.trust.allowForMoment(item.reference, for: client.caller)
        }
        client.notes.note(trust: choice.rawValue)
        let evidence = result.proven.reduce(Evidence()) { $0.adding($1) }
        client.notes.note(proven: evidence)
        return Consent(item: item.reference, choice: choice, evidence: evidence)
    }

    func list(_ search: SearchPass, _ access: Authorization) throws(RequestError) {
        let identity = access.client.caller.identity
        guard let name = identity.identifier, let strength = identity.strength else {
            throw .failed(.internalError)
        }
        let application = TrustedApplication(
            name, strength: strength, listedBy: nil,
            listedAt: Date().timeIntervalSinceReferenceDate)
        let meant = search.found ?? []
        let keys = try access.keys
        try mayList(meant, access, keys)
        for item in meant { try keys.unlock.check(item.availability) }
        let guessed = meant.filter(\.needsApplicationPassword).map(\.reference)
        _ = try access.service.guessing(guessed, in: access.keychain) {
            () throws(KeychainStoreError) in
            try access.keychain.file.update(
                meant.map(\.meant), ItemChange(), nil, keys: keys.classKeys,
                trust: { TrustList(($0?.applications ?? []) + [application]) }
            ) { item in
                guard case .allow(let grant) = try? access.verdict(on: item) else { return nil }
                return grant
            }
        }
    }

    /// The policy may have changed while the user was asked.
    private func mayList(
        _ items: [SealedItem], _ access: Authorization, _ keys: RequestKeys
    ) throws(RequestError) {
        let proven = access.consent?.evidence ?? Evidence()
        let changing = try context(
            access.intent.judged(as: .changeACL), admitting: .mayChange, access, keys,
            given: proven)
        for item in items {
            switch changing.judge(item, proven) {
            case .allow: continue
            case .deny(let denial): throw changing.refusal(denial)
            case .allowAfter: throw .refused(.authenticationFailed)
            }
        }
    }
}
