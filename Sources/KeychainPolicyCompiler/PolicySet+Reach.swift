// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainPolicyEngine
public import KeychainPolicyModel

extension PolicySet {
    private static let machines = PolicyText(KeychainName.system.description)

    /// Only the statements that let a caller know of other groups' items, with only their
    /// conditions on the subject and the group. It matches more than the whole set, and decides
    /// nothing.
    public var reachOnly: PolicySet {
        let shares = rules.flatMap { rule -> [PolicyRule] in
            guard case .share = rule.effect else { return [] }
            var open = rule
            open.mode = .enforce
            let box = PolicyBox(
                operations: rule.match.box.operations,
                rule.match.box.conditions.filter(\.saysWhoAndWhichGroup))
            let machines = PolicyCondition.text(.keychain, [.literal(Self.machines)])
            open.match = PolicyMatch(box, unless: [PolicyBox([machines])])
            guard box.conditions.contains(where: \.namesGroup) else { return [open] }
            var named = open
            named.match = PolicyMatch(
                PolicyBox(operations: box.operations, box.conditions.map(\.byNameAlone)))
            return [open, named]
        }
        var set = PolicySet()
        set.rules = shares
        set.groups = groups
        return set
    }
}

extension PolicyCondition {
    fileprivate var saysWhoAndWhichGroup: Bool {
        fieldName.hasPrefix("subject.") || fieldName == "resource.access-group"
    }
    /// Whether the condition names an access group.
    fileprivate var namesGroup: Bool {
        guard case .text(.accessGroup, let patterns) = self else { return false }
        return patterns.contains { $0.isLiteral }
    }

    /// The condition without the patterns that match any number of groups, where it has others.
    fileprivate var byNameAlone: PolicyCondition {
        guard namesGroup, case .text(.accessGroup, let patterns) = self else { return self }
        return .text(.accessGroup, patterns.filter(\.isLiteral))
    }
}

extension TextPattern {
    fileprivate var isLiteral: Bool {
        if case .literal = self { true } else { false }
    }
}
