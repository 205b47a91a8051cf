// SPDX-License-Identifier: Apache-2.0
internal import KeychainAccessControl
internal import KeychainActivePolicy
internal import KeychainItemStore
internal import KeychainMessages
internal import KeychainModel
internal import KeychainPolicyEngine
internal import KeychainPolicyModel
internal import KeychainRequestAudit
internal import KeychainSecrets
internal import KeychainUserPresence
internal import KeychainVaults

/// What a verb does with items, in the engine's words and in those of the question.
struct Intent: Sendable {
    let operation: ItemOperation
    let policyOperation: PolicyOperation
    let purpose: Question.Purpose
    let ui: ItemQuery.AuthenticationUI
    let reason: String?

    static func read(_ query: ItemQuery) -> Intent {
        let readsSecrets = query.returnFields.contains(.data)
        return Intent(
            operation: .decrypt, policyOperation: readsSecrets ? .readSecret : .readAttributes,
            purpose: readsSecrets ? .read : .list, ui: query.authenticationUI,
            reason: query.reason)
    }

    static func add(_ item: NewItem) -> Intent {
        Intent(
            operation: .encrypt, policyOperation: .add, purpose: .add, ui: item.authenticationUI,
            reason: item.reason)
    }

    /// A search: the user is never asked; rules judge it as a call that may ask.
    static let search = Intent(
        operation: .decrypt, policyOperation: .readAttributes, purpose: .list, ui: .allow,
        reason: nil)

    static func update(_ query: ItemQuery) -> Intent {
        Intent(
            operation: .decrypt, policyOperation: .update, purpose: .change,
            ui: query.authenticationUI, reason: query.reason)
    }

    static func delete(_ query: ItemQuery) -> Intent {
        Intent(
            operation: .delete, policyOperation: .delete, purpose: .delete,
            ui: query.authenticationUI, reason: query.reason)
    }

    /// The same words for the user, judged as another operation of policies.
    func judged(as operation: PolicyOperation) -> Intent {
        Intent(
            operation: self.operation, policyOperation: operation, purpose: purpose, ui: ui,
            reason: reason)
    }
}

/// The class keys that one request holds of a keychain, and the unlock that they came with.
final class RequestKeys {
    let unlock: UnlockWatch
    private(set) var classKeys: ClassKeys

    init(
        of keychain: OpenKeychain, _ vault: any KeyVault, by logins: LiveLogins?
    ) throws(RequestError) {
        let taken = try vault.take(keychain, by: logins)
        unlock = UnlockWatch(keychain, vault, taken.unlocks)
        classKeys = taken.keys()
    }

    func hold(applicationKey: HeldSecret?) { classKeys.applicationKey = applicationKey }

    /// Throws where the unlock no longer gives keys of that availability.
    func check(_ availability: Accessibility.Availability) throws(RequestError) {
        try unlock.check(availability)
    }
}

/// The items that a pass of authorisation is about.
struct ItemScope {
    /// The client's own groups among those that are looked into.
    let groups: [String]
    /// What the items' own rights make their verdicts rest on; all of it while they are not known.
    var needs = ItemNeeds.all
    /// Adds the verb's further requests for an item, and how the client may know of it.
    var refine: (AuthorizationContext) -> Void = { _ in }
}

/// Whether a client may do something with items of one keychain: the pass that each verb on items
/// takes.
///
/// A verb says what it is about (`begin`) and considers the items; `settle` counts it for the policy's
/// limits and asks the user once, for all that the items still need; `grant` hands out the right to
/// do it. Keys, unlock, facts and grants from before a question are gone after it, so that no verb
/// can forget to look and to judge again. Without a question a grant that was made when the item was
/// considered is the one that is handed out.
final class Authorization {
    /// Grants that are kept from considering an item to using it.
    private static let mostGrants = 256

    let keychain: OpenKeychain
    let prompts: UserPrompts
    let client: any Client
    let service: KeychainService
    let intent: Intent
    private(set) var pending = PendingRequirements(given: Evidence())
    /// The item of another program's that the user lets the client have.
    private(set) var consent: Consent?
    /// An item was refused a grant for want of a proof alone.
    private(set) var lacksProof = false

    private var scope = ItemScope(groups: [])
    private var evidence: Evidence?
    /// Nothing is looked up that only a question rests on.
    private var isWithoutQuestion = false
    /// What the user proved to the question; nil where there was none.
    private var proven: Evidence?

    // Valid for one count of questions; a question discards them.
    private var asOf: Int
    private var heldKeys: RequestKeys?
    private var heldContext: AuthorizationContext?
    private var heldJoined: [String]?
    private var heldGrants: [ItemReference: HeldGrant] = [:]
    /// The first lies apart: most calls are about one item, which needs no table.
    private var firstGrant: Grant?
    private var firstItem: (reference: ItemReference, generation: Int64)?

    /// The call was counted for the policy's limits, with the first of its items.
    private var isCounted = false
    private var counted = CountedLimits()

    init(
        _ intent: Intent, in keychain: OpenKeychain, _ prompts: UserPrompts,
        by service: KeychainService
    ) {
        self.intent = intent
        self.keychain = keychain
        self.prompts = prompts
        client = prompts.client
        self.service = service
        asOf = prompts.count
    }

    // MARK: Facts

    var keys: RequestKeys {
        get throws(RequestError) {
            endWithQuestion()
            if let heldKeys { return heldKeys }
            let keys = try RequestKeys(of: keychain, service.vault, by: prompts.takeLogins())
            heldKeys = keys
            return keys
        }
    }

    var context: AuthorizationContext {
        get throws(RequestError) {
            endWithQuestion()
            if let heldContext { return heldContext }
            let keys = try keys
            let context = try service.context(
                intent, self, keys, scope, given: evidence, withoutQuestion: isWithoutQuestion)
            heldContext = context
            return context
        }
    }

    /// Groups of other programs that its user had the client join in this keychain. None before the
    /// first unlock, and none by an entry that is not believed.
    var joinedGroups: [String] {
        get throws(RequestError) {
            guard client.caller.via == .secretService, JoinedGroups.mayJoin(client.caller),
                !keychain.isSystem
            else { return [] }
            let keys = try keys
            if let heldJoined { return heldJoined }
            let groups = try? keychain.file.joinedGroups(keys.classKeys)
            let joined = (groups?.joined(by: client.caller) ?? [])
                .distinct(besides: client.caller.accessGroups)
            heldJoined = joined
            return joined
        }
    }

    private func endWithQuestion() {
        guard asOf != prompts.count else { return }
        heldKeys = nil
        heldJoined = nil
        endFacts()
        asOf = prompts.count
    }

    private func endFacts() {
        heldContext = nil
        firstGrant = nil
        firstItem = nil
        heldGrants = [:]
    }

    // MARK: Before the question

    /// Says what the verb is about, and what was proven before. Without evidence, and where nothing
    /// will be asked, nothing is looked up that only a question rests on. `earlier` is what may serve,
    /// where that is not all of it.
    func begin(
        _ scope: consuming ItemScope, given evidence: Evidence?, trusting earlier: Evidence? = nil,
        withoutQuestion: Bool = false
    ) {
        self.scope = consume scope
        self.evidence = evidence
        isWithoutQuestion = withoutQuestion || evidence == nil
        pending = PendingRequirements(given: earlier ?? evidence ?? Evidence())
        endFacts()
    }

    /// Notes what the item still needs; throws where nothing that the user could prove would do.
    func consider(_ item: SealedItem) throws(RequestError) {
        pending.note(item)
        let context = try context
        switch context.judge(item, pending.evidence) {
        case .allow(let grant): hold(grant, of: item)
        case .deny(let denial): throw context.refusal(denial)
        case .allowAfter(let requirement):
            try pending.add(
                requirement, for: item, ofOthers: !context.isOwn(item),
                context.reaches(item, pending.evidence))
        }
    }

    /// Whether all of them may be used by what was proven before; then they are considered. Where not,
    /// the verb begins anew.
    func considersUnasked(_ items: [SealedItem]) throws(RequestError) -> Bool {
        let (context, evidence) = (try context, pending.evidence)
        for item in items {
            guard let grant = context.grantAtOnce(item, evidence) else { return false }
            hold(grant, of: item)
            pending.note(item)
        }
        return true
    }

    /// Whether something is still needed before the client may have the secret of an item that a search
    /// met; nil where the client may not have it, or not know of the item. The item counts as looked at.
    func isLocked(_ item: SealedItem) throws(RequestError) -> Bool? {
        let context = try context
        if case .deny(let denial) = context.judge(item, pending.evidence), denial.isFinal {
            return nil
        }
        pending.note(item)
        return switch context.forecast(.readSecret, of: item, pending.evidence) {
        case .allow: false
        case .deny(let denial): denial.isFinal ? nil : true
        case .allowAfter: true
        }
    }

    /// Whether the item and its secret may be had although nothing was proven: then it counts as looked
    /// at. False where such a look does not tell.
    func isOpenUnproven(_ item: SealedItem) throws(RequestError) -> Bool {
        let context = try context
        guard context.grantAtOnce(item, Evidence()) != nil,
            case .allow = context.forecast(.readSecret, of: item, Evidence())
        else { return false }
        pending.note(item)
        return true
    }

    private func hold(_ grant: consuming Grant, of item: SealedItem) {
        guard firstItem != nil else {
            firstItem = (item.reference, item.generation)
            firstGrant = consume grant
            return
        }
        guard heldGrants.count < Self.mostGrants else { return }
        heldGrants[item.reference] = HeldGrant(grant, item.generation)
    }

    private func heldGrant(of item: SealedItem) -> Grant? {
        // An item that was considered twice has its latest grant in the table.
        if !heldGrants.isEmpty, let held = heldGrants[item.reference] {
            return held.take(ofGeneration: item.generation)
        }
        guard let firstItem, firstItem.reference == item.reference,
            firstItem.generation == item.generation
        else { return nil }
        return firstGrant.take()
    }

    /// An item that is left out, but for a password that lies ready.
    func considerPassword(of item: SealedItem) { pending.noteApplicationPassword(of: item) }

    func require(_ requirement: Requirement, for item: SealedItem) {
        pending.require(requirement, for: item)
    }

    // MARK: Questions

    /// Asks the user once for all that the items considered still need. `mayAsk` may throw before
    /// the user is asked.
    func settle(
        remarks: [String] = [], _ mayAsk: () throws(RequestError) -> Void = {}
    ) throws(RequestError) {
        if let first = pending.first { try countLimits(first) }
        try mayAsk()
        guard !pending.items.isEmpty else { return }
        proven = try prompts.prove(
            Requirement.all(pending.requirements), question(remarks), given: pending.evidence)
        evidence = proven
        isWithoutQuestion = false
    }

    /// Counts the call for the policy's limits, once for all of its items. What is exhausted may ask
    /// for more than the items do.
    private func countLimits(_ item: SealedItem) throws(RequestError) {
        let exhausted = try service.countLimits(
            item, context, isPrompted: !pending.items.isEmpty || asksForPassword, &counted)
        guard exhausted.isEmpty || prompts.mayAsk(intent.ui) else {
            throw .refused(.interactionNotAllowed)
        }
        for constraint in exhausted { pending.require(Requirement(constraint), for: item) }
        isCounted = true
    }

    /// Whether the user will be asked for an application password.
    private var asksForPassword: Bool {
        let opens: [PolicyOperation] = [.readSecret, .add, .update]
        return pending.usesApplicationPassword && opens.contains(intent.policyOperation)
            && client.context?.applicationPassword == nil && prompts.mayAsk(intent.ui)
    }

    /// Counts one more item of a call whose limits were not counted yet; each limit counts once per
    /// call.
    private func countUnasked(_ item: SealedItem) throws(RequestError) {
        guard try service.countLimits(item, context, isPrompted: false, &counted).isEmpty else {
            lacksProof = true
            throw prompts.mayAsk(intent.ui)
                ? .refused(.authenticationFailed) : .refused(.interactionNotAllowed)
        }
    }

    /// Takes the key of items that were made with an application password, from the request's context
    /// or the user; none where neither gives one, for a query that leaves such items out.
    func takeApplicationKey(isNew: Bool, to items: Set<ItemReference>) throws(RequestError) {
        // Before the user is asked, or anything derived.
        try service.itemGuesses.check(
            Set(items.map { .init(keychain: keychain.id, item: $0) }))
        guard let password = try applicationPassword(isNew: isNew) else { return }
        guard password.bytes.count <= RequestLimits.longestPassword else {
            throw .invalid(.dataTooLarge)
        }
        let key = try service.protectors.applicationKey(keychain, password)
        try keys.hold(applicationKey: key)
    }

    private func applicationPassword(isNew: Bool) throws(RequestError) -> HeldSecret? {
        if let given = client.context?.applicationPassword { return given }
        if prompts.mayAsk(intent.ui) {
            return try prompts.applicationPassword(question(), isNew: isNew)
        }
        guard intent.ui == .skip else { throw .refused(.interactionNotAllowed) }
        return nil
    }

    /// Where a search finds nothing, the user may be asked to let the client have an item of another
    /// program's.
    func askForConsent(_ search: SearchPass) throws(RequestError) {
        guard search.found?.isEmpty ?? true, search.matcher.query.namesOneItem,
            client.caller.strength != nil, prompts.mayAsk(intent.ui), try search.isEmpty(self)
        else { return }
        var found: ConsentCandidate?
        let result = try prompts.consent {
            found = service.consent.candidate(search, self)
            return found.map { ($0.question, $0.options) }
        }
        guard let result, let found else { return }
        consent = service.consent.settle(result, on: found, for: client)
        search.admit(found.item)
    }

    private func question(_ remarks: [String] = []) -> Question {
        let names = pending.names.isEmpty ? pending.passwordNames : pending.names
        return Question(
            intent.purpose, names: names, itemCount: max(names.count, pending.items.count),
            items: Array(pending.items), reason: intent.reason ?? client.context?.reason,
            remarks: remarks + pending.reaches.remarks(ofOthers: pending.hasOthers, for: client))
    }

    // MARK: After the question

    /// The evidence for an item. What was just proven is good for the items that the question was
    /// about, and for none that came later.
    private func evidence(for item: SealedItem) -> Evidence {
        guard let proven, pending.items.contains(item.reference) else { return pending.evidence }
        return proven
    }

    func verdict(on item: SealedItem) throws(RequestError) -> Verdict {
        try context.judge(item, evidence(for: item))
    }

    /// The grant to do it; throws where the item, as it is now, wants more than was proven.
    func grant(_ item: SealedItem) throws(RequestError) -> Grant {
        endWithQuestion()
        if let held = heldGrant(of: item) {
            if !isCounted { try countUnasked(item) }
            client.notes.note(held)
            return held
        }
        switch try verdict(on: item) {
        case .allow(let grant):
            if !isCounted { try countUnasked(item) }
            client.notes.note(grant)
            return grant
        case .deny(let denial): throw try context.refusal(denial)
        case .allowAfter:
            lacksProof = true
            throw .refused(.authenticationFailed)
        }
    }

    /// Has the store change items, with a grant for each. An item that gets none ends the whole change,
    /// and so does the end of the unlock that the keys came with.
    func change<R>(
        _ body: ((SealedItem) -> Grant?) throws(RequestError) -> R
    ) throws(RequestError) -> R {
        try prompts.checkClient()
        var unlock = try keys.unlock
        var refusal: RequestError?
        var changed = changedItems()
        do throws(RequestError) {
            let result = try body { item in
                do throws(RequestError) {
                    try unlock.checkNowAndThen(item.availability)
                    let grant = try grant(item)
                    changed?.append(item, isOfOthers: try !context.isOwn(item))
                    return grant
                } catch {
                    refusal = error
                    return nil
                }
            }
            client.notes.noteChange()
            changed?.tell()
            return result
        } catch { throw refusal ?? error }
    }

    /// Changed items of the class `attributed`, where a deputy watches their user's keychains.
    private func changedItems() -> ChangedItems? {
        let event: KeychainChange.ItemEvent
        switch intent.policyOperation {
        case .add: event = .added
        case .update: event = .changed
        case .delete: event = .deleted
        default: return nil
        }
        guard !keychain.isSystem,
            service.changes.isWatched(keychain.user, besides: nil)
        else { return nil }
        return ChangedItems(
            keychain: keychain.id, event: event, feed: service.changes, by: client.deputy)
    }
}

extension Denial {
    /// No proof and no unlock would change it.
    var isFinal: Bool {
        switch self {
        case .unknownItem, .forbidden: true
        case .impossible, .locked, .passcodeNotSet, .interactionNotAllowed: false
        }
    }
}

/// A grant from considering an item to using it, for the item as it was considered.
private final class HeldGrant {
    private var grant: Grant?
    private let generation: Int64

    init(_ grant: consuming Grant, _ generation: Int64) {
        self.grant = consume grant
        self.generation = generation
    }

    func take(ofGeneration generation: Int64) -> Grant? {
        self.generation == generation ? grant.take() : nil
    }
}
