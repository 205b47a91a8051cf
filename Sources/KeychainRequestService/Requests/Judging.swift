// SPDX-License-Identifier: Apache-2.0
internal import KeychainAccessControl
internal import KeychainItemStore
internal import KeychainLocalSocket
internal import KeychainMessages
internal import KeychainModel
internal import KeychainPolicyEngine
internal import KeychainPolicyModel
internal import KeychainSecrets

/// How one request's items are judged: the same facts for each of them.
struct Judging: Sendable {
    let judge: Judge
    let circumstances: AccessRequest.Circumstances
    let keychainName: String
    /// What is enrolled now; empty where nothing is.
    let biometry: [UInt8]
    let notes: RequestNotes
    /// What lets the caller know of an item beside its group and the policy.
    var admission: @Sendable (SealedItem) -> AccessRequest.Admission = { _ in .none }
    /// What the call does to an item besides. Each is judged for itself, and all must be allowed.
    var also: @Sendable (SealedItem) -> [AccessRequest] = { _ in [] }

    private func judge(_ request: AccessRequest, _ evidence: Evidence) -> Verdict {
        let evidence = evidence.about(request.item.reference)
        let verdict = judge.judge(request, evidence)
        if !judge.policy.isEmpty { notes.note(request, evidence, verdict.isDenial, judge) }
        return verdict
    }

    func judge(_ item: SealedItem, _ evidence: Evidence) -> Verdict {
        var needs: [Requirement] = []
        let verdict = judge(request(item), evidence)
        if verdict.isDenial { return verdict }
        for request in also(item) {
            switch judge(request, evidence) {
            case .allow: continue
            case .deny(let denial): return .deny(denial)
            case .allowAfter(let requirement): needs.append(requirement)
            }
        }
        if needs.isEmpty { return verdict }
        if case .allowAfter(let requirement) = verdict { needs.append(requirement) }
        return .allowAfter(.all(needs))
    }

    /// How far the proofs will count that the item still needs.
    func reaches(_ item: SealedItem, _ evidence: Evidence) -> Set<ProofReach> {
        let evidence = evidence.about(item.reference)
        return ([request(item)] + also(item)).reduce(into: []) {
            $0.formUnion(judge.reaches(of: $1, evidence))
        }
    }

    private func request(_ item: SealedItem) -> AccessRequest {
        AccessRequest(
            circumstances, on: self.item(item, item.accessGroup, item.accessControl))
    }

    /// Whether all of them may be used although nothing was proven.
    func allows(_ items: [SealedItem]) -> Bool {
        items.allSatisfy { item in
            guard case .allow = judge(item, Evidence()) else { return false }
            return true
        }
    }

    /// Whether the caller may know that the item exists.
    func isKnown(_ item: SealedItem) -> Bool {
        if isOwn(item) { return true }
        if case .deny(.unknownItem) = judge.judge(request(item), Evidence()) { return false }
        return true
    }

    /// Whether it belongs to one of the caller's groups.
    func isOwn(_ item: SealedItem) -> Bool {
        let group = item.accessGroup
        return circumstances.callerGroups.contains { $0.utf8.elementsEqual(group.utf8) }
    }

    /// The item as it is, or as it would be in another group and under other rights.
    func item(
        _ item: SealedItem, _ group: String, _ rights: ItemAccessControl,
        changed attributes: Attributes = [:]
    ) -> AccessRequest.Item {
        let isCurrent =
            !rights.isBoundToBiometry || (!biometry.isEmpty && rights.boundBiometry == biometry)
        return AccessRequest.Item(
            reference: item.reference, accessGroup: group, accessControl: rights,
            biometryIsCurrent: isCurrent,
            attributes: attributes.isEmpty
                ? item.attributes : item.attributes.merging(attributes) { $1 },
            keychain: keychainName, admission: admission(item))
    }

    /// The refusal that a denial is, its reasons noted for the explanation of it.
    func refusal(_ denial: Denial) -> Refusal {
        if case .forbidden(let rules, let place) = denial { notes.note(rules: rules, first: place) }
        return Refusal(denial)
    }
}

extension KeychainService {
    /// Without evidence nothing is looked up that only proofs rest on: what is allowed by such a
    /// first look is allowed by a whole one, as long as no rule asks how old a proof is.
    func judging(
        _ operation: ItemOperation, as policyOperation: PolicyOperation,
        _ keychain: OpenKeychain, _ keys: borrowing ClassKeys, groups: [String],
        ui: ItemQuery.AuthenticationUI, few: [SealedItem]? = nil, given evidence: Evidence?,
        for asker: any Asker
    ) throws(Refusal) -> Judging {
        let judge = policy.now.judge
        // Looked up only where a verdict can rest on it.
        var isPasscodeSet: Bool?
        var provable: Set<PolicyMethod> = []
        var biometry: [UInt8] = []
        let restsOnPasscode = few?.contains { $0.restsOnPasscode(for: operation) } ?? true
        if restsOnPasscode || (evidence != nil && !judge.policy.isEmpty) {
            isPasscodeSet = try hasProvableOwner(keychain, for: asker.caller)
            if evidence != nil { provable = authentication.provable(for: asker) }
        }
        if few?.contains(where: { $0.accessControl.isBoundToBiometry }) ?? true {
            biometry = authentication.enrolledBiometry(of: asker.caller)
        }
        let isPolicyEmpty = judge.policy.isEmpty
        let facts =
            isPolicyEmpty ? PolicyFacts() : policyFacts(of: asker, judge.policy.asked, evidence)
        return Judging(
            judge: judge,
            circumstances: AccessRequest.Circumstances(
                operation, as: policyOperation, callerGroups: groups,
                keychain: AccessRequest.Keychain(
                    isUnlocked: keys.isUnlocked, wasUnlockedSinceBoot: keys.wasUnlockedSinceBoot,
                    isPasscodeSet: isPasscodeSet),
                mayAsk: authentication.mayAsk(ui, for: asker), provable: provable,
                facts: facts,
                numbered: isPolicyEmpty ? nil : asker.numbered(facts, under: judge.policy),
                day: isPolicyEmpty ? 0 : LocalTime.now.day),
            keychainName: keychain.name.description, biometry: biometry,
            notes: asker.notes)
    }

    private func policyFacts(
        of asker: any Asker, _ asked: AskedFacts, _ evidence: Evidence?
    ) -> PolicyFacts {
        var facts = asker.policyFacts(asked)
        let presence = evidence?.proofs.filter(\.provesPresence) ?? []
        if let age = presence.map(\.age).min() { facts[AgeField.presence] = .known(age) }
        return facts
    }

    /// Counts the call for the policy's limits, once for all of its items. What is exhausted may ask
    /// for more than the items do.
    func countLimits(
        _ needs: inout Needs, _ item: SealedItem?, _ judging: Judging
    ) throws(Refusal) {
        guard !judging.judge.policy.isEmpty, let item else { return }
        var facts = judging.circumstances.facts.with(
            item: judging.item(item, item.accessGroup, item.accessControl).facts)
        facts[.prompted] = .known(!needs.items.isEmpty)
        let request = PolicyRequest(
            judging.circumstances.policyOperation, facts: facts, day: judging.circumstances.day)
        let exhausted = try limits.count(request, judging.judge.policy, judging.notes)
        for constraint in exhausted { needs.require(Requirement(constraint), for: item) }
    }

    /// Whether the policy's limits leave room for a question about the item. Counts it.
    func isWithinLimits(_ item: SealedItem, _ judging: Judging) -> Bool {
        guard !judging.judge.policy.isEmpty else { return true }
        var facts = judging.circumstances.facts.with(
            item: judging.item(item, item.accessGroup, item.accessControl).facts)
        facts[.prompted] = .known(true)
        let request = PolicyRequest(
            judging.circumstances.policyOperation, facts: facts, day: judging.circumstances.day)
        return (try? limits.count(request, judging.judge.policy, judging.notes))?.isEmpty ?? false
    }

    /// The key to items that were made with an application password: from the request's context,
    /// else from the user; nil where neither gives one, for a query that leaves such items out.
    func applicationKey(
        _ keychain: OpenKeychain, _ question: @autoclosure () -> Question, isNew: Bool,
        to items: Set<ItemReference>, _ ui: ItemQuery.AuthenticationUI, for asker: any Asker
    ) throws(Refusal) -> HeldSecret? {
        // Before the user is asked, or anything derived.
        try itemGuesses.check(Set(items.map { .init(keychain: keychain.place, item: $0) }))
        let password: HeldSecret
        if let given = asker.context?.applicationPassword {
            password = given
        } else if authentication.mayAsk(ui, for: asker) {
            password = try authentication.applicationPassword(
                question(), isNew: isNew, for: asker)
        } else if ui == .skip {
            return nil
        } else {
            throw .interactionNotAllowed
        }
        guard password.bytes.count <= Request.longestPassword else { throw .dataTooLarge }
        return try protectors.applicationKey(keychain, password)
    }

    /// Does what opens the secrets of these items, as one guess at the application password of those
    /// that were made with one. What opens none of them `shows` nothing, even if it succeeds.
    func guessing<R>(
        _ items: some Sequence<ItemReference>, in keychain: OpenKeychain,
        shows outcome: Guesses.Outcome = .right,
        _ body: () throws(KeychainStoreError) -> R
    ) throws(Refusal) -> R {
        let targets = Set(items.map { ItemGuesses.Target(keychain: keychain.place, item: $0) })
        if !targets.isEmpty { try itemGuesses.begin(targets) }
        do throws(KeychainStoreError) {
            let result = try body()
            itemGuesses.end(targets, outcome)
            return result
        } catch {
            itemGuesses.end(targets, error == .wrongApplicationPassword ? .wrong : .undecided)
            throw Refusal(error)
        }
    }
}

extension Verdict {
    fileprivate var isDenial: Bool {
        switch self {
        case .deny: true
        case .allow: false
        case .allowAfter: false
        }
    }
}

/// What must be proven before items may be used: gathered first, so that the user is asked once.
struct Needs: Sendable {
    /// Items that one question may be about: they are all remembered while it is open.
    private static let mostItems = 16_384

    private(set) var requirements: Set<Requirement> = []
    /// The items that need a proof: the evidence that comes of it is good for these alone.
    private(set) var items: Set<ItemReference> = []
    /// What people know the first of them by.
    private(set) var names: [String] = []
    /// Of all that were looked at.
    private(set) var first: SealedItem?
    /// Items that were made with an application password, as many as a question names.
    private(set) var passwordItems: Set<ItemReference> = []
    var usesApplicationPassword: Bool { !passwordItems.isEmpty }
    /// Some of those that need a proof are not the caller's own.
    private(set) var hasOthers = false
    /// How far what is proven will count.
    private(set) var reaches: Set<ProofReach> = []
    /// The names of those, which the user is told where a password is all that is asked for.
    private(set) var passwordNames: [String] = []
    /// What was proven before.
    let evidence: Evidence

    init(given evidence: Evidence) { self.evidence = evidence }

    /// Of items that need no proof.
    init(plain items: [SealedItem]) {
        self.init(given: Evidence())
        for item in items { note(item) }
    }

    private mutating func note(_ item: SealedItem) {
        if first == nil { first = item }
        noteApplicationPassword(of: item)
    }

    /// Of an item that a query would leave out, but for a password that lies ready.
    mutating func noteApplicationPassword(of item: SealedItem) {
        guard item.accessControl.needsApplicationPassword,
            passwordItems.count < Question.mostNames
        else { return }
        if passwordItems.insert(item.reference).inserted { passwordNames.append(item.shownName) }
    }

    mutating func add(_ item: SealedItem, _ judging: Judging) throws(Refusal) {
        note(item)
        switch judging.judge(item, evidence) {
        case .allow: return
        case .deny(let denial): throw judging.refusal(denial)
        case .allowAfter(let requirement):
            guard items.count < Self.mostItems else { throw .dataTooLarge }
            require(requirement, for: item)
            hasOthers = hasOthers || !judging.isOwn(item)
            reaches.formUnion(judging.reaches(item, evidence))
        }
    }

    mutating func require(_ requirement: Requirement, for item: SealedItem) {
        requirements.insert(requirement)
        guard items.insert(item.reference).inserted, names.count < Question.mostNames else {
            return
        }
        names.append(item.shownName)
    }
}

extension SealedItem {
    fileprivate func restsOnPasscode(for operation: ItemOperation) -> Bool {
        accessControl.protection == .whenPasscodeSetThisDeviceOnly
            || asksForProof(for: operation)
    }

    func asksForProof(for operation: ItemOperation) -> Bool {
        accessControl.constraint(for: operation) != .always
    }

    /// What people know the item by.
    var shownName: String {
        for name in [AttributeName.label, .service, .server, .account] {
            if case .string(let text)? = attributes[name], !text.isEmpty { return text }
        }
        return "without a name"
    }
}

extension PolicyProof {
    fileprivate var provesPresence: Bool {
        guard case .factor(let factor) = method else { return false }
        return factor != .confirm && factor != .appPassword && factor != .login
    }
}

extension Judging {
    /// The item among others of a search. What may be read may be listed, as far as no rule
    /// requires more.
    func listing(_ item: SealedItem) -> AccessRequest {
        var listed = self.item(item, item.accessGroup, item.accessControl)
        listed.admission = .trusted
        return AccessRequest(circumstances.of(circumstances.operation, as: .list), on: listed)
    }
}
