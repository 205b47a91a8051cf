// SPDX-License-Identifier: Apache-2.0
internal import AccessControl
internal import KeychainModel
internal import KeychainStore

/// How one request's items are judged: the same facts for each of them.
struct Judging: Sendable {
    let operation: ItemOperation
    let groups: [String]
    let keychain: AccessRequest.Keychain
    let mayAsk: Bool

    func judge(_ item: AccessRequest.Item, _ evidence: Evidence) -> Verdict {
        Judge.judge(
            AccessRequest(
                operation, on: item, callerGroups: groups, keychain: keychain, mayAsk: mayAsk),
            evidence)
    }

    func judge(_ item: SealedItem, _ evidence: Evidence) -> Verdict {
        judge(
            AccessRequest.Item(
                reference: item.reference, accessGroup: item.accessGroup,
                accessControl: item.accessControl), evidence)
    }
}

extension KeychainService {
    func judging(
        _ operation: ItemOperation, _ keychain: OpenKeychain, _ keys: borrowing ClassKeys,
        groups: [String], ui: ItemQuery.AuthenticationUI, few: [SealedItem]? = nil,
        for asker: any Asker
    ) throws(Refusal) -> Judging {
        // Looked up only where a verdict can rest on it; "not set" opens nothing.
        var isPasscodeSet = false
        if few?.contains(where: { $0.restsOnPasscode(for: operation) }) ?? true {
            do { isPasscodeSet = try keychain.file.isPasswordProtected() } catch {
                throw Refusal(error)
            }
        }
        return Judging(
            operation: operation, groups: groups,
            keychain: AccessRequest.Keychain(
                isUnlocked: keys.isUnlocked, wasUnlockedSinceBoot: keys.wasUnlockedSinceBoot,
                isPasscodeSet: isPasscodeSet),
            mayAsk: authentication.mayAsk(ui, for: asker))
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
            Requirement.all(needs.requirements),
            Question(purpose, names: needs.names, itemCount: needs.items.count, reason: reason),
            for: asker)
    }
}

/// What must be proven before items may be used: gathered first, so that the user is asked once.
struct Needs: Sendable {
    private(set) var requirements: Set<Requirement> = []
    /// The items that need a proof: the evidence that comes of it is good for these alone.
    private(set) var items: Set<ItemReference> = []
    /// What people know the first of them by.
    private(set) var names: [String] = []

    init() {}

    init(_ items: [SealedItem], _ judging: Judging) throws(Refusal) {
        for item in items { try add(item, judging) }
    }

    mutating func add(_ item: SealedItem, _ judging: Judging) throws(Refusal) {
        switch judging.judge(item, Evidence()) {
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
