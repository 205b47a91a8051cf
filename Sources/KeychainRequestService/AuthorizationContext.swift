// SPDX-License-Identifier: Apache-2.0
internal import KeychainAccessControl
internal import KeychainActivePolicy
internal import KeychainItemStore
internal import KeychainLinuxSystem
internal import KeychainManagement
internal import KeychainMessages
internal import KeychainModel
internal import KeychainPolicyEngine
internal import KeychainPolicyModel
internal import KeychainRequestAudit
internal import KeychainUserPresence
internal import KeychainVaults

/// The facts that all items of one request are judged by.
final class AuthorizationContext {
    let judge: Judge
    let circumstances: AccessRequest.Circumstances
    let keychainName: String
    /// The biometry enrolled now; empty where there is none. Looked up, by another process, where an
    /// item is bound to it.
    private lazy var biometry = enrolledBiometry()
    private let enrolledBiometry: () -> [UInt8]
    let notes: RequestNotes
    /// The groups of other programs that the client joined.
    private let joined: [String]
    /// How the client may know of an item other than by its group or the policy.
    var admission: (SealedItem) -> AccessRequest.Admission = { _ in .none }
    /// Further requests that the verb makes of an item. Each is judged on its own, and all must be
    /// allowed.
    var also: (AuthorizationContext, SealedItem) -> [AccessRequest] = { _, _ in [] }

    init(
        _ judge: Judge, _ circumstances: AccessRequest.Circumstances, keychainName: String,
        biometry: @escaping () -> [UInt8], notes: RequestNotes, joined: [String] = []
    ) {
        self.judge = judge
        self.circumstances = circumstances
        self.keychainName = keychainName
        enrolledBiometry = biometry
        self.notes = notes
        self.joined = joined
    }

    // MARK: Judging

    func judge(_ item: SealedItem, _ evidence: Evidence) -> Verdict {
        judge(item, evidence, isLastLook: true)
    }

    /// The grant, where the facts at hand are enough for one. Only a grant is noted: a refusal may come
    /// from facts that this look lacks, and the look with all of them notes it.
    func grantAtOnce(_ item: SealedItem, _ evidence: Evidence) -> Grant? {
        guard case .allow(let grant) = judge(item, evidence, isLastLook: false) else { return nil }
        return grant
    }

    private func judge(_ item: SealedItem, _ evidence: Evidence, isLastLook: Bool) -> Verdict {
        var needs: [Requirement] = []
        let verdict = judge(request(item), evidence, isLastLook: isLastLook)
        if verdict.isDenial { return verdict }
        for request in also(self, item) {
            switch judge(request, evidence, isLastLook: isLastLook) {
            case .allow: continue
            case .deny(let denial): return .deny(denial)
            case .allowAfter(let requirement): needs.append(requirement)
            }
        }
        if needs.isEmpty { return verdict }
        if case .allowAfter(let requirement) = verdict { needs.append(requirement) }
        return .allowAfter(.all(needs))
    }

    private func judge(
        _ request: consuming AccessRequest, _ evidence: Evidence, isLastLook: Bool
    ) -> Verdict {
        let evidence = evidence.about(request.item.reference)
        let verdict = judge.judge(request, evidence)
        if !judge.policy.isEmpty, isLastLook || verdict.isGrant {
            notes.note(consume request, consume evidence, verdict.isDenial, judge)
        }
        return verdict
    }

    /// The verdict that a later request for the item would get. It is not noted, as no such request
    /// was made.
    func forecast(
        _ operation: PolicyOperation, of item: SealedItem, _ evidence: Evidence
    ) -> Verdict {
        let asked = request(item)
        let later = AccessRequest(
            circumstances.of(circumstances.operation, as: operation), on: asked.item)
        return judge.judge(later, evidence.about(item.reference))
    }

    /// How far the proofs that the item still needs will count.
    func reaches(_ item: SealedItem, _ evidence: Evidence) -> Set<ProofReach> {
        let evidence = evidence.about(item.reference)
        return ([request(item)] + also(self, item)).reduce(into: []) {
            $0.formUnion(judge.reaches(of: $1, evidence))
        }
    }

    /// Whether the client may know that the item exists.
    func isKnown(_ item: SealedItem) -> Bool {
        if isOwn(item) { return true }
        if case .deny(.unknownItem) = judge.judge(request(item), Evidence()) { return false }
        return true
    }

    /// Whether it belongs to one of the client's groups.
    func isOwn(_ item: SealedItem) -> Bool {
        circumstances.callerGroups.firstSame(as: item.accessGroup) != nil
    }

    /// Whether it is in a group that the client joined.
    func isJoined(_ item: SealedItem) -> Bool {
        !joined.isEmpty && item.reference.itemClass == .attributed
            && joined.firstSame(as: item.accessGroup) != nil
    }

    /// Turns a denial into a refusal, and notes its rules for the explanation.
    func refusal(_ denial: Denial) -> RequestError {
        if case .forbidden(let rules, let place) = denial { notes.note(rules: rules, first: place) }
        return RequestError(denial)
    }

    // MARK: Requests

    private func request(_ item: SealedItem) -> AccessRequest {
        AccessRequest(
            circumstances, on: self.item(item, item.accessGroup, item.accessControl))
    }

    /// The item as one of a search's results. An item that may be read may be listed, unless a rule
    /// requires more.
    func listing(_ item: SealedItem) -> AccessRequest {
        var listed = self.item(item, item.accessGroup, item.accessControl)
        listed.admission = .trusted
        return AccessRequest(circumstances.of(circumstances.operation, as: .list), on: listed)
    }

    /// The item as it is, or as it would be in another group and under other rights.
    func item(
        _ item: SealedItem, _ group: String, _ rights: ItemAccessControl,
        changedBy change: ItemChange? = nil
    ) -> AccessRequest.Item {
        let isCurrent =
            !rights.isBoundToBiometry || (!biometry.isEmpty && rights.boundBiometry == biometry)
        return AccessRequest.Item(
            reference: item.reference, accessGroup: group, accessControl: rights,
            biometryIsCurrent: isCurrent,
            attributes: change?.applied(to: item.ownAttributes) ?? item.ownAttributes,
            keychain: keychainName, admission: isJoined(item) ? .joined : admission(item))
    }

    /// Binds access control that asks for the currently enrolled biometry to the biometry of now.
    func bound(_ rights: ItemAccessControl) -> ItemAccessControl {
        rights.isBoundToBiometry ? rights.bound(to: biometry) : rights
    }
}

extension KeychainService {
    /// Without a question, facts that matter only for one are not looked up. A request that is
    /// allowed without them is allowed with them too; so is one without `evidence`, as long as no
    /// rule asks for the age of a proof.
    func context(
        _ intent: Intent, _ access: Authorization, _ keys: RequestKeys, _ scope: ItemScope,
        given evidence: Evidence?, withoutQuestion: Bool = false
    ) throws(RequestError) -> AuthorizationContext {
        let judge = policy.now.judge
        let client = access.client
        // Looked up only where a verdict can depend on it.
        var isPasscodeSet: Bool?
        var provable: Set<PolicyMethod> = []
        let mayNeedProof = scope.needs.contains(.proof) || !judge.policy.isEmpty
        if scope.needs.contains(.passcode) || (!withoutQuestion && mayNeedProof) {
            isPasscodeSet = try management.hasProvableOwner(access.keychain, for: client.caller)
            if !withoutQuestion { provable = authentication.provable(for: client) }
        }
        let restsOnAnswers = !withoutQuestion || judge.policy.asked.contains(.interactive)
        let mayAsk = restsOnAnswers ? access.prompts.mayAsk(intent.ui) : nil
        if mayAsk == nil { client.notes.note(unlooked: intent.ui) }
        let isPolicyEmpty = judge.policy.isEmpty
        let facts =
            isPolicyEmpty
            ? PolicyFacts() : policyFacts(of: client, judge.policy.asked, evidence)
        let numbered = isPolicyEmpty ? nil : client.numbered(facts, under: judge.policy)
        let circumstances = AccessRequest.Circumstances(
            intent.operation, as: intent.policyOperation, callerGroups: scope.groups,
            keychain: AccessRequest.Keychain(
                isUnlocked: keys.classKeys.isUnlocked,
                wasUnlockedSinceBoot: keys.classKeys.wasUnlockedSinceBoot,
                isPasscodeSet: isPasscodeSet),
            mayAsk: mayAsk, provable: provable, facts: facts, numbered: numbered,
            // The day matters only to permissive rules, which expire.
            day: judge.hasPermissiveRules ? LocalTime.now.day : 0)
        let context = AuthorizationContext(
            judge, circumstances, keychainName: access.keychain.id.name.description,
            biometry: { [authentication] in authentication.enrolledBiometry(of: client.caller) },
            notes: client.notes, joined: try access.joinedGroups)
        scope.refine(context)
        return context
    }

    private func policyFacts(
        of client: any Client, _ asked: AskedFacts, _ evidence: Evidence?
    ) -> PolicyFacts {
        var facts = client.policyFacts(asked)
        if asked.containsDate { facts.date = .known(LocalTime.now.day) }
        let presence = evidence?.proofs.filter(\.provesPresence) ?? []
        if let age = presence.map(\.age).min() { facts[AgeField.presence] = .known(age) }
        return facts
    }

    // MARK: Limits

    /// Counts a request about the item towards the policy's limits. Returns the constraints that
    /// exhausted limits ask for instead.
    func countLimits(
        _ item: SealedItem, _ context: AuthorizationContext, isPrompted: Bool,
        _ counted: inout CountedLimits
    ) throws(RequestError) -> [PolicyConstraint] {
        let (policy, circumstances) = (context.judge.policy, context.circumstances)
        guard isPrompted ? policy.hasLimits : policy.countsUnprompted else { return [] }
        let own = PolicyItem(
            item.reference.itemClass, item.ownAttributes, accessGroup: item.accessGroup,
            rights: item.accessControl, keychain: context.keychainName)
        var facts = circumstances.facts
        circumstances.addMoment(to: &facts)
        facts[.member] = .known(context.isOwn(item))
        facts[.prompted] = .known(isPrompted)
        let told = facts
        own.addChoices(to: &facts)
        let admitted = policy.admit(
            circumstances.policyOperation, facts, numbered: circumstances.numbered, of: own,
            evidence: [], day: circumstances.day)
        return try limits.count(admitted, policy, context.notes, &counted) {
            PolicyRequest(
                circumstances.policyOperation, facts: told.with(item: own.facts),
                day: circumstances.day)
        }
    }

    /// Whether the policy's limits leave room for a question about the item. The question is
    /// counted.
    func isWithinLimits(_ item: SealedItem, _ context: AuthorizationContext) -> Bool {
        var counted = CountedLimits()
        return (try? countLimits(item, context, isPrompted: true, &counted))?.isEmpty ?? false
    }

    /// Runs `body`, which opens the secrets of these items, as one guess at the application
    /// password of those that have one. `outcome` is `.undecided` where `body` opens no secret, and
    /// so its success proves no password right.
    func guessing<R>(
        _ items: some Collection<ItemReference>, in keychain: OpenKeychain,
        shows outcome: UnlockThrottle.Outcome = .right,
        _ body: () throws(KeychainStoreError) -> R
    ) throws(RequestError) -> R {
        guard !items.isEmpty else {
            do throws(KeychainStoreError) { return try body() } catch { throw RequestError(error) }
        }
        let targets = Set(items.map { ItemThrottle.Target(keychain: keychain.id, item: $0) })
        try itemGuesses.begin(targets)
        do throws(KeychainStoreError) {
            let result = try body()
            itemGuesses.end(targets, outcome)
            return result
        } catch {
            itemGuesses.end(targets, error == .wrongApplicationPassword ? .wrong : .undecided)
            throw RequestError(error)
        }
    }
}

extension Verdict {
    fileprivate var isGrant: Bool {
        switch self {
        case .allow: true
        case .deny: false
        case .allowAfter: false
        }
    }

    fileprivate var isDenial: Bool {
        switch self {
        case .deny: true
        case .allow: false
        case .allowAfter: false
        }
    }
}

/// What an item's own rights make its verdict rest on.
struct ItemNeeds: OptionSet, Sendable {
    let rawValue: UInt8
    /// Whether the keychain has a password.
    static let passcode = ItemNeeds(rawValue: 1)
    /// What the user proves, which takes a password too.
    static let proof = ItemNeeds(rawValue: 2)
    /// Of items that are not known.
    static let all: ItemNeeds = [.passcode, .proof]
}

extension ItemNeeds {
    init(of item: SealedItem, toDo operation: ItemOperation) {
        let rights = item.accessControl
        self = []
        if rights.protection == .whenPasscodeSetThisDeviceOnly { insert(.passcode) }
        if rights.constraint(for: operation) != .always { insert(.proof) }
        // An item that could never be read must not be added either.
        if operation == .encrypt, rights.constraint(for: .decrypt) != .always { insert(.proof) }
    }
}

extension SealedItem {
    /// The name that people know the item by.
    var shownName: String {
        for name in [AttributeName.label, .service, .server, .account] {
            if case .string(let text)? = attributes[name], !text.isEmpty { return text }
        }
        return "without a name"
    }
}
