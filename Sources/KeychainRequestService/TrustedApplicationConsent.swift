// SPDX-License-Identifier: Apache-2.0
internal import KeychainAccessControl
internal import KeychainItemStore
internal import KeychainMessages
internal import KeychainModel
internal import KeychainPolicyModel
internal import KeychainRequestAudit
internal import KeychainUserPresence
internal import KeychainVaults

/// An item of another program's that the user lets the asking one have.
struct Consent: Sendable {
    let item: ItemReference
    /// Imported items that go with it, where the user says *always*.
    let kin: [ItemReference]
    let choice: TrustChoice
    /// What the user has proven on that occasion: good for this request and not kept.
    let evidence: Evidence
}

/// The item that the user could be asked about, and what they may choose.
struct ConsentCandidate {
    let item: SealedItem
    var kin: [ItemReference] = []
    let question: Question
    let options: ConsentOptions
}

/// Another program's item, as a search tells the client of it.
struct OthersItem {
    /// What the client lacks before it may read the item.
    enum Missing { case unlock, consent, proof }

    let order: AttributedOrder
    let missing: Missing?
    /// Neither its user nor a rule lets the client in: a question would have to be put.
    let isStrangers: Bool
}

/// Lets the user give a program an item that belongs to another one.
protocol ConsentStep: Sendable {
    /// nil is "not found": wherever no question is put, the client hears the same as of an item
    /// that is not there.
    func candidate(_ search: SearchPass, _ access: Authorization) -> ConsentCandidate?
    /// The items of other programs of which a search tells the client: all that let it in, and at
    /// most `strangers` of those that its user could be asked about.
    func othersItems(
        _ query: ItemQuery, _ access: Authorization, strangers: Int
    ) -> [OthersItem]
    func settle(
        _ result: ConsentResult, on candidate: ConsentCandidate, for client: any Client
    ) -> Consent
    /// Writes down what the user chose for good: the program in the list of the item, or the item
    /// given to it where it belongs to no program, or the program as one that joined the group.
    func list(_ search: SearchPass, _ access: Authorization) throws(RequestError)
}

/// Asks the user about an item that has a list of programs (docs/design/proofs.md, Trusted
/// applications).
struct TrustedApplicationConsent: ConsentStep {
    /// Items of the same name that are looked at, of whichever program.
    private static let mostCandidates = 8
    private static let mostKin = 256
    /// Items of others, from which a search tells those that let the client in.
    private static let mostLetIn = 1024

    let authentication: Authentication

    /// An item that the user may be asked about if all else allows it. Whatever goes wrong is no
    /// more than nothing found.
    func candidate(_ search: SearchPass, _ access: Authorization) -> ConsentCandidate? {
        let caller = access.client.caller
        var query = search.matcher.query
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
            let kin =
                options.proofs[.always] == nil
                ? [] : kin(of: item, reading, changing, access.keychain, keys)
            return ConsentCandidate(
                item: item, kin: kin.map(\.reference),
                question: question(
                    about: item, kin, mayJoin: options.proofs[.everything] != nil, access),
                options: options)
        }
        return nil
    }

    func othersItems(
        _ query: ItemQuery, _ access: Authorization, strangers: Int
    ) -> [OthersItem] {
        guard let groups = try? access.groups(query), let keys = try? access.keys else { return [] }
        let caller = access.client.caller
        var met = OthersMet()
        func look(_ query: ItemQuery, _ scope: SearchScope, lettingIn: Bool, atMost most: Int) {
            let most = met.count + most
            try? access.keychain.file.forEachAttributed(
                query, in: scope, sealed: scope, keys: keys.classKeys
            ) { candidate in
                guard met.count < most else { return false }
                met.add(candidate, lettingIn: lettingIn)
                return met.count < most && (lettingIn || met.openedStrangers < strangers)
            }
        }
        look(
            query, .trusting(caller.identity, besides: groups.all), lettingIn: true,
            atMost: Self.mostLetIn)
        let allowed = Set(authentication.trust.items(for: caller))
        if !allowed.isEmpty {
            var some = query
            some.references = (query.references ?? Array(allowed)).filter(allowed.contains)
            look(some, .askable(besides: groups.all), lettingIn: true, atMost: allowed.count)
        }
        if strangers > 0 {
            // A rule that fits any group may let the client know of each that does not open.
            look(
                query, .askable(besides: groups.all), lettingIn: false,
                atMost: groups.mayBeAny ? Self.mostLetIn : strangers)
        }
        return met.isEmpty ? [] : standing(of: met, query, groups, access, keys)
    }

    private func standing(
        of met: OthersMet, _ query: ItemQuery, _ groups: GroupScope, _ access: Authorization,
        _ keys: RequestKeys
    ) -> [OthersItem] {
        let given = authentication.evidence(for: access.client)
        guard
            let reading = try? context(
                access.intent, admitting: .trusted, access, keys, given: given),
            let changing = try? context(
                access.intent.judged(as: .changeACL), admitting: .mayChange, access, keys,
                given: given)
        else { return [] }
        func mayAsk(_ item: SealedItem) -> Bool {
            options(of: item, reading, changing, access.client.caller) != nil
        }
        let opened = met.opened.compactMap { item, isLetIn -> OthersItem? in
            let missing: OthersItem.Missing?
            switch reading.judge(item, given) {
            case .deny(let denial):
                guard isLetIn, !denial.isFinal else { return nil }
                missing = .proof
            case .allow: missing = isLetIn ? nil : .consent
            case .allowAfter: missing = isLetIn ? .proof : .consent
            }
            guard isLetIn || mayAsk(item) else { return nil }
            return OthersItem(order: item.order, missing: missing, isStrangers: !isLetIn)
        }
        guard !met.sealed.isEmpty else { return opened }
        // All that is known of those that don't open, so that a rule which rests on more refuses
        // none.
        let unread = SealedItem.unread(query)
        var mayAskAboutSealed = false
        switch reading.forecast(.readSecret, of: unread, given) {
        case .deny(let denial): mayAskAboutSealed = !denial.isFinal && mayAsk(unread)
        case .allow: mayAskAboutSealed = mayAsk(unread)
        case .allowAfter: mayAskAboutSealed = mayAsk(unread)
        }
        return opened
            + met.sealed.compactMap { item, isLetIn in
                let isStrangers = !isLetIn && !groups.mayBeAny
                guard !isStrangers || mayAskAboutSealed else { return nil }
                let pairs = item.isWhole ? query.attributes.tellingPairs.count : nil
                return OthersItem(
                    order: AttributedOrder(sealed: item.reference, pairs: pairs),
                    missing: .unlock, isStrangers: isStrangers)
            }
    }

    func context(
        _ intent: Intent, admitting admission: AccessRequest.Admission, _ access: Authorization,
        _ keys: RequestKeys, given evidence: Evidence
    ) throws(RequestError) -> AuthorizationContext {
        let scope = ItemScope(groups: access.client.caller.accessGroups) {
            $0.admission = { _ in admission }
        }
        return try access.service.context(intent, access, keys, scope, given: evidence)
    }

    private func question(
        about item: SealedItem, _ kin: [SealedItem], mayJoin: Bool, _ access: Authorization
    ) -> Question {
        let remark =
            item.isImported
            ? ImportedItems.remark(kin: kin.map(\.shownName))
            : "The item belongs to \(ProgramName.shown(item.accessGroup))."
        let all = mayJoin ? [JoinedGroups.remark(group: item.accessGroup)] : []
        return Question(
            .read, names: [item.shownName], itemCount: 1, items: [item.reference],
            reason: access.intent.reason ?? access.client.context?.reason,
            remarks: [remark] + all + access.client.caller.identity.remarks)
    }

    /// Other imported items of the kind, of those that ask for no proof. None where they are very
    /// many.
    private func kin(
        of item: SealedItem, _ reading: AuthorizationContext, _ changing: AuthorizationContext,
        _ keychain: OpenKeychain, _ keys: RequestKeys
    ) -> [SealedItem] {
        guard item.isImported, let kind = ImportedItems.kind(of: item.attributes) else { return [] }
        var query = ItemQuery(item.reference.itemClass)
        query.attributes = kind
        query.limit = Self.mostKin + 2
        let found = try? keychain.file.find(
            query, groups: [ImportedItems.group], keys: keys.classKeys)
        guard let found, found.count <= Self.mostKin + 1 else { return [] }
        return found.filter { other in
            guard other.reference != item.reference,
                ImportedItems.isOfKind(kind, other.attributes, like: item.attributes),
                other.accessControl == .plain(other.protection),
                case .allow = reading.judge(other, Evidence())
            else { return false }
            if case .deny = changing.judge(other, Evidence()) { return false }
            return true
        }
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
        let lasting: Requirement
        switch changing.judge(item, Evidence()) {
        case .allow: lasting = presence
        case .allowAfter(let asked): lasting = .all([presence, asked])
        case .deny: return options
        }
        let lastingProof = lasting.cheapestProof(available: reading.circumstances.provable)
        let count = item.trusted?.applications.count ?? 0
        if count < TrustList.mostApplications { options.proofs[.always] = lastingProof }
        if item.reference.itemClass == .attributed, JoinedGroups.mayJoin(caller),
            JoinedGroups.isOpen(item.accessGroup)
        {
            options.proofs[.everything] = lastingProof
        }
        return options
    }

    func settle(
        _ result: ConsentResult, on candidate: ConsentCandidate, for client: any Client
    ) -> Consent {
        let item = candidate.item
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
        return Consent(
            item: item.reference, kin: candidate.kin, choice: choice, evidence: evidence)
    }
}

/// Items of other programs that a search met, each once, with whether it lets the client in.
private struct OthersMet {
    private(set) var opened: [(item: SealedItem, isLetIn: Bool)] = []
    private(set) var sealed: [(item: (reference: ItemReference, isWhole: Bool), isLetIn: Bool)] = []
    private(set) var openedStrangers = 0
    private var references: Set<ItemReference> = []

    var count: Int { references.count }
    var isEmpty: Bool { references.isEmpty }

    mutating func add(_ candidate: AttributedCandidate, lettingIn: Bool) {
        switch candidate {
        case .opened(let item):
            guard references.insert(item.reference).inserted else { return }
            opened.append((item, lettingIn))
            if !lettingIn { openedStrangers += 1 }
        case .sealed(let reference, let isWhole):
            guard references.insert(reference).inserted else { return }
            sealed.append(((reference, isWhole), lettingIn))
        }
    }
}

extension SealedItem {
    var isImported: Bool {
        reference.itemClass == .attributed
            && accessGroup.utf8.elementsEqual(ImportedItems.group.utf8)
    }
}
