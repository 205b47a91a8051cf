// SPDX-License-Identifier: Apache-2.0
internal import AccessControl
internal import KeychainMessages
internal import KeychainModel
internal import KeychainStore
internal import Secrets

/// How one request's items are judged: the same facts for each of them.
struct Judging: Sendable {
    let operation: ItemOperation
    let groups: [String]
    let keychain: AccessRequest.Keychain
    let mayAsk: Bool
    let provable: Set<PolicyMethod>
    /// What is enrolled now; empty where nothing is.
    let biometry: [UInt8]

    func judge(_ item: AccessRequest.Item, _ evidence: Evidence) -> Verdict {
        Judge.judge(
            AccessRequest(
                operation, on: item, callerGroups: groups, keychain: keychain, mayAsk: mayAsk,
                provable: provable), evidence)
    }

    func judge(_ item: SealedItem, _ evidence: Evidence) -> Verdict {
        judge(self.item(item.reference, item.accessGroup, item.accessControl), evidence)
    }

    func item(
        _ reference: ItemReference, _ group: String, _ rights: ItemAccessControl
    ) -> AccessRequest.Item {
        let isCurrent =
            !rights.isBoundToBiometry || (!biometry.isEmpty && rights.boundBiometry == biometry)
        return AccessRequest.Item(
            reference: reference, accessGroup: group, accessControl: rights,
            biometryIsCurrent: isCurrent)
    }
}

extension KeychainService {
    func judging(
        _ operation: ItemOperation, _ keychain: OpenKeychain, _ keys: borrowing ClassKeys,
        groups: [String], ui: ItemQuery.AuthenticationUI, few: [SealedItem]? = nil,
        for asker: any Asker
    ) throws(Refusal) -> Judging {
        // Looked up only where a verdict can rest on it; "not set" and "nothing" open nothing.
        var isPasscodeSet = false
        var provable: Set<PolicyMethod> = []
        var biometry: [UInt8] = []
        if few?.contains(where: { $0.restsOnPasscode(for: operation) }) ?? true {
            do { isPasscodeSet = try keychain.file.isPasswordProtected() } catch {
                throw Refusal(error)
            }
            provable = authentication.provable(for: asker)
        }
        if few?.contains(where: { $0.accessControl.isBoundToBiometry }) ?? true {
            biometry = authentication.enrolledBiometry(of: asker.caller)
        }
        return Judging(
            operation: operation, groups: groups,
            keychain: AccessRequest.Keychain(
                isUnlocked: keys.isUnlocked, wasUnlockedSinceBoot: keys.wasUnlockedSinceBoot,
                isPasscodeSet: isPasscodeSet),
            mayAsk: authentication.mayAsk(ui, for: asker), provable: provable,
            biometry: biometry)
    }

    /// Asks once for what all these items together still need; nil where they need nothing.
    ///
    /// Asking takes as long as a person does: whoever gets evidence looks at the keys, the facts and
    /// the asker again.
    func evidence(
        for needs: Needs, _ purpose: Question.Purpose, reason: String?, for asker: any Asker
    ) throws(Refusal) -> Evidence? {
        guard !needs.items.isEmpty else { return nil }
        return try authentication.satisfy(
            Requirement.all(needs.requirements), question(needs, purpose, reason, asker),
            given: needs.evidence, for: asker)
    }

    func question(
        _ needs: Needs, _ purpose: Question.Purpose, _ reason: String?, _ asker: any Asker
    ) -> Question {
        Question(
            purpose, names: needs.names, itemCount: needs.items.count,
            reason: reason ?? asker.context?.reason)
    }

    /// The key to items that were made with an application password: from the request's context,
    /// else from the user; nil where neither gives one, for a query that leaves such items out.
    func applicationKey(
        _ keychain: OpenKeychain, _ question: @autoclosure () -> Question, isNew: Bool,
        _ ui: ItemQuery.AuthenticationUI, for asker: any Asker
    ) throws(Refusal) -> HeldSecret? {
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
}

/// What must be proven before items may be used: gathered first, so that the user is asked once.
struct Needs: Sendable {
    private(set) var requirements: Set<Requirement> = []
    /// The items that need a proof: the evidence that comes of it is good for these alone.
    private(set) var items: Set<ItemReference> = []
    /// What people know the first of them by.
    private(set) var names: [String] = []
    /// Some of the items were made with an application password.
    private(set) var usesApplicationPassword = false
    /// What was proven before.
    let evidence: Evidence

    init(given evidence: Evidence) { self.evidence = evidence }

    init(
        _ items: [SealedItem], _ judging: Judging, given evidence: Evidence
    ) throws(Refusal) {
        self.init(given: evidence)
        for item in items { try add(item, judging) }
    }

    mutating func add(_ item: SealedItem, _ judging: Judging) throws(Refusal) {
        if item.accessControl.needsApplicationPassword { usesApplicationPassword = true }
        switch judging.judge(item, evidence) {
        case .allow: return
        case .deny(let denial): throw Refusal(denial)
        case .allowAfter(let requirement):
            requirements.insert(requirement)
            items.insert(item.reference)
            if names.count < Question.mostNames { names.append(item.shownName) }
        }
    }
}

extension SealedItem {
    fileprivate func restsOnPasscode(for operation: ItemOperation) -> Bool {
        accessControl.protection == .whenPasscodeSetThisDeviceOnly
            || accessControl.constraint(for: operation) != .always
    }

    /// What people know the item by.
    var shownName: String {
        for name in [AttributeName.label, .service, .server, .account] {
            if case .string(let text)? = attributes[name], !text.isEmpty { return text }
        }
        return "without a name"
    }
}
