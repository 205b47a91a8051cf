// SPDX-License-Identifier: Apache-2.0
internal import KeychainAccessControl
internal import KeychainItemStore
internal import KeychainMessages
internal import KeychainModel
internal import KeychainPolicyModel
internal import KeychainSecrets

/// What a call does with items, in the engine's words and in those of the question.
struct Intent: Sendable {
    let operation: ItemOperation
    let policyOperation: PolicyOperation
    let purpose: Question.Purpose
    let ui: ItemQuery.AuthenticationUI
    let reason: String?

    static func read(_ query: ItemQuery) -> Intent {
        let readsSecrets = query.parts.contains(.data)
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
}

/// The class keys that one request holds of a keychain, and the unlock that they came with.
final class RequestKeys {
    let keychain: OpenKeychain
    private let vault: any KeyVault
    private(set) var unlock: UnlockWatch
    private(set) var classKeys: ClassKeys

    init(of keychain: OpenKeychain, _ vault: any KeyVault) throws(Refusal) {
        self.keychain = keychain
        self.vault = vault
        // First: an unlock that ends while the keys are taken is missed otherwise.
        unlock = UnlockWatch(keychain, vault)
        classKeys = try vault.keys(of: keychain)
    }

    /// After a question: the keychain may have been locked, or opened, while a person took their time.
    func renew() throws(Refusal) {
        unlock = UnlockWatch(keychain, vault)
        classKeys = try vault.keys(of: keychain)
    }

    func hold(applicationKey: HeldSecret?) { classKeys.applicationKey = applicationKey }
}

/// Whether a client may do something with items of one keychain: the pass that each call on items
/// takes, and the only one that asks the user about them.
///
/// Items are considered with what was proven before. `settle` counts the call for the policy's limits
/// and asks the user once, for all that the items still need. After a question it takes unlock, keys
/// and facts anew, and each grant is judged by those: a call can't forget to look again.
final class Authorization {
    let keys: RequestKeys
    let client: any Asker
    private let service: KeychainService
    private let intent: Intent
    private let groups: [String]
    private let few: [SealedItem]?
    private let refine: (inout Judging) -> Void
    private(set) var judging: Judging
    private(set) var needs: Needs
    /// What the user proved to the question; nil where there was none.
    private(set) var proven: Evidence?
    /// An item was refused a grant for want of a proof alone.
    private(set) var lacksProof = false

    var keychain: OpenKeychain { keys.keychain }

    /// Looks at the facts. `few` are all items that it will be about, where they are known; without
    /// evidence nothing is looked up that only proofs rest on. `refine` says what the call does to
    /// items besides, and how the client comes to know of them.
    init(
        _ intent: Intent, within groups: [String], _ keys: RequestKeys, for client: any Asker,
        by service: KeychainService, few: [SealedItem]? = nil, given evidence: Evidence?,
        trusting earlier: Evidence? = nil, refine: @escaping (inout Judging) -> Void = { _ in }
    ) throws(Refusal) {
        self.intent = intent
        self.groups = groups
        self.keys = keys
        self.client = client
        self.service = service
        self.few = few
        self.refine = refine
        needs = Needs(given: earlier ?? evidence ?? Evidence())
        judging = try Self.look(
            intent, groups, keys, client, service, few: few, given: evidence, refine)
    }

    private static func look(
        _ intent: Intent, _ groups: [String], _ keys: RequestKeys, _ client: any Asker,
        _ service: KeychainService, few: [SealedItem]?, given evidence: Evidence?,
        _ refine: (inout Judging) -> Void
    ) throws(Refusal) -> Judging {
        var judging = try service.judging(
            intent.operation, as: intent.policyOperation, keys.keychain, keys.classKeys,
            groups: groups, ui: intent.ui, few: few, given: evidence, for: client)
        refine(&judging)
        return judging
    }

    // MARK: Before the question

    /// Notes what the item still needs; throws where nothing that the user could prove would do.
    func consider(_ item: SealedItem) throws(Refusal) { try needs.add(item, judging) }

    /// Items that need nothing.
    func considerAllowed(_ items: [SealedItem]) { needs = Needs(plain: items) }

    /// An item that is left out, but for a password that lies ready.
    func considerPassword(of item: SealedItem) { needs.noteApplicationPassword(of: item) }

    func require(_ requirement: Requirement, for item: SealedItem) {
        needs.require(requirement, for: item)
    }

    // MARK: The question

    /// Asks the user once for all that the items considered still need, and looks anew. `mayAsk` may
    /// throw before the user is asked.
    func settle(
        remarks: [String] = [], _ mayAsk: () throws(Refusal) -> Void = {}
    ) throws(Refusal) {
        try service.countLimits(&needs, needs.first, judging)
        try mayAsk()
        guard !needs.items.isEmpty else { return }
        let evidence = try service.authentication.satisfy(
            Requirement.all(needs.requirements), question(remarks), given: needs.evidence,
            for: client)
        proven = evidence
        try keys.renew()
        judging = try Self.look(
            intent, groups, keys, client, service, few: few, given: evidence, refine)
    }

    /// Takes the key of items that were made with an application password, from the request's context
    /// or the user.
    func takeApplicationKey(
        isNew: Bool, to items: Set<ItemReference>
    ) throws(Refusal) {
        keys.hold(
            applicationKey: try service.applicationKey(
                keychain, question(), isNew: isNew, to: items, intent.ui, for: client))
    }

    private func question(_ remarks: [String] = []) -> Question {
        let names = needs.names.isEmpty ? needs.passwordNames : needs.names
        return Question(
            intent.purpose, names: names, itemCount: max(names.count, needs.items.count),
            items: Array(needs.items), reason: intent.reason ?? client.context?.reason,
            remarks: remarks + needs.reaches.remarks(ofOthers: needs.hasOthers, for: client))
    }

    // MARK: After the question

    /// The evidence for an item. What was just proven is good for the items that the question was
    /// about, and for none that came later.
    func evidence(for item: SealedItem) -> Evidence {
        guard let proven, needs.items.contains(item.reference) else { return needs.evidence }
        return proven
    }

    func verdict(on item: SealedItem) -> Verdict { judging.judge(item, evidence(for: item)) }

    /// The grant to do it; throws where the item, as it is now, wants more than was proven.
    func grant(_ item: SealedItem) throws(Refusal) -> Grant {
        switch verdict(on: item) {
        case .allow(let grant):
            client.notes.note(grant)
            return grant
        case .deny(let denial): throw judging.refusal(denial)
        case .allowAfter:
            lacksProof = true
            throw .authenticationFailed
        }
    }

    /// Has the store change items, with a grant for each. An item that gets none ends the whole change,
    /// and so does the end of the unlock that the keys came with.
    func change<R>(
        _ body: ((SealedItem) -> Grant?) throws(Refusal) -> R
    ) throws(Refusal) -> R {
        try checkClient()
        var unlock = keys.unlock
        var refusal: Refusal?
        do throws(Refusal) {
            return try body { item in
                do throws(Refusal) {
                    try unlock.checkNowAndThen(item.availability)
                    return try grant(item)
                } catch {
                    refusal = error
                    return nil
                }
            }
        } catch { throw refusal ?? error }
    }

    /// To be asked last, before anything is written or leaves: the client still is the program that
    /// it was when the request came.
    func checkClient() throws(Refusal) {
        guard client.isUnchanged() else { throw .notEntitled }
    }
}
