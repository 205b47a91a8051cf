// SPDX-License-Identifier: Apache-2.0
internal import KeychainItemStore
internal import KeychainModel
internal import KeychainPolicyEngine
internal import KeychainPolicyModel

/// The access groups that a call looks into.
struct GroupScope: Sendable {
    /// The caller's own: it is a member, and may know of every item.
    let own: [String]
    /// Those of others, in which the policy may let the caller know of some.
    let others: [String]

    var all: [String] { own + others }
}

extension KeychainService {
    /// All groups the caller may see something of, or the one that is named if it is among them.
    func groups(
        _ query: ItemQuery, _ operation: PolicyOperation, _ keychain: OpenKeychain,
        _ keys: borrowing ClassKeys, for asker: any Asker
    ) throws(Refusal) -> GroupScope {
        let policy = policy.now
        let named = query.accessGroup
        let reach = reach(policy.reach, into: keychain, for: operation, asker)
        let own = asker.caller.accessGroups
        guard !own.isEmpty || !reach.isEmpty else { throw .notEntitled }
        var others = reach.groups.map(\.string)
        if reach.anyGroup, named == nil {
            do {
                others += try keychain.file.groups(keys, isOnlyWriter: isDaemon)
            } catch { throw Refusal(error) }
        }
        guard let named else {
            return GroupScope(own: own, others: Self.distinct(others, besides: own))
        }
        if let mine = Self.first(named, of: own) { return GroupScope(own: [mine], others: []) }
        guard reach.anyGroup || Self.first(named, of: others) != nil else {
            asker.notes.note(
                stranger: ItemFacts.of(query, group: named, keychain: keychain.name.description),
                operation, policy.judge)
            throw .notEntitled
        }
        return GroupScope(own: [], others: [named])
    }

    /// A share of everything is meant for the keychains of those who share. So in the machine's,
    /// for others than root, a share names the group, and the kernel names the service.
    private func reach(
        _ policy: CompiledPolicy, into keychain: OpenKeychain, for operation: PolicyOperation,
        _ asker: any Asker
    ) -> VisibleGroups {
        guard keychain.isSystem, asker.caller.user != 0 else {
            return asker.reach(policy, for: operation, byNameAlone: false)
        }
        guard case .unit = asker.caller.identity else { return VisibleGroups() }
        return asker.reach(policy, for: operation, byNameAlone: true)
    }

    static func first(_ name: String, of groups: [String]) -> String? {
        groups.first { $0.utf8.elementsEqual(name.utf8) }
    }

    private static func distinct(_ groups: [String], besides own: [String]) -> [String] {
        var kept: [String] = []
        for group in groups where first(group, of: own + kept) == nil { kept.append(group) }
        return kept
    }
}
