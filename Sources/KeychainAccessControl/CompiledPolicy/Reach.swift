// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

/// The access groups that a caller may know of besides its own: what a search must look into. Each
/// item found there is decided by itself.
public struct PolicyReach: Sendable, Equatable {
    /// By name, where a rule names one.
    public var groups: [PolicyText] = []
    /// A rule that fits the caller names groups by a pattern: there may be any.
    public var anyGroup = false

    public init() {}
    public var isEmpty: Bool { groups.isEmpty && !anyGroup }
}

extension CompiledPolicy {
    /// A policy without rules: items' own access control decides.
    public static let empty: CompiledPolicy = {
        // Safe to insist: there is nothing in it that could be wrong.
        guard let empty = try? CompiledPolicy(PolicySet()) else {
            preconditionFailure("an empty policy compiles")
        }
        return empty
    }()

    public var isEmpty: Bool { statementCount == 0 }

    /// What shares and groups let the subject know of, for some item. Of a policy made from
    /// `PolicySet.reachOnly`, which leaves open what is asked of the item. In the machine's
    /// keychain a share counts `byNameAlone`.
    public func reach(
        _ subject: PolicyFacts, for operation: PolicyOperation, byNameAlone: Bool = false
    ) -> PolicyReach {
        var subject = subject
        subject[.keychain] = .known([byNameAlone ? PolicySet.machines : PolicySet.anybodys])
        var reach = PolicyReach()
        for record in 0..<image.count(.symbols) {
            let head = image.word(.symbols, record)
            let text = image.text(.symbols, record, 1)
            switch head {
            case PolicyImage.symbolHead(.accessGroup, .literal):
                if mayReach(text, subject, operation) { reach.groups.append(text) }
            case PolicyImage.symbolHead(.accessGroup, .prefix):
                reach.anyGroup = reach.anyGroup || mayReach(text, subject, operation)
            case PolicyImage.symbolHead(.accessGroup, .suffix):
                reach.anyGroup =
                    reach.anyGroup || mayReach(PolicyText("x" + text.string), subject, operation)
            case PolicyImage.symbolHead(.accessGroup, .anchor):
                // What fits a pattern with stars inside can't be made up here.
                reach.anyGroup = true
            default: continue
            }
        }
        if byNameAlone { reach.anyGroup = false }
        return reach
    }

    private func mayReach(
        _ group: PolicyText, _ subject: PolicyFacts, _ operation: PolicyOperation
    ) -> Bool {
        var facts = subject
        facts[.accessGroup] = .known([group])
        facts[.member] = .known(false)
        let ruling = decide(admit(PolicyRequest(operation, facts: facts, day: .max)))
        return ruling.outcome != .deny
    }
}

extension PolicySet {
    fileprivate static let machines = PolicyText(KeychainName.system.description)
    /// Some other keychain: which one makes no difference.
    fileprivate static let anybodys = PolicyText(KeychainName.login.description)

    /// Only what lets a caller know of items of other groups, and of its conditions only those on
    /// the subject and the group. It allows more than the whole, and nothing is decided by it.
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
    /// Whether an access group is there by its name.
    fileprivate var namesGroup: Bool {
        guard case .text(.accessGroup, let patterns) = self else { return false }
        return patterns.contains { $0.isLiteral }
    }

    /// Without the patterns that fit any number of groups, where it has others.
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
