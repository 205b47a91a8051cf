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

    /// What all these items together still need, asked once. Nothing needed is no evidence.
    func evidence(
        for items: [SealedItem], _ judging: Judging, _ purpose: Question.Purpose,
        reason: String?, for asker: any Asker
    ) throws(Refusal) -> Evidence {
        var requirements: [Requirement] = []
        var names: [String] = []
        for item in items {
            switch judging.judge(item, Evidence()) {
            case .allow: continue
            case .deny(let denial): throw Refusal(denial)
            case .allowAfter(let requirement):
                requirements.append(requirement)
                if names.count < Question.mostNames { names.append(item.shownName) }
            }
        }
        guard !requirements.isEmpty else { return Evidence() }
        return try authentication.satisfy(
            Requirement.all(Set(requirements)),
            Question(purpose, names: names, itemCount: requirements.count, reason: reason),
            for: asker)
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
