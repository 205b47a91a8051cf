// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel

/// The decisions that a request must pass: its own, and the one of the export that reading a key
/// also is.
enum CaseNumber: Int, CaseIterable {
    case itself, release
}

/// The effect of a set's statement on the requests that it matches.
enum RuleEffectKind: Hashable {
    /// Reading this releases a key.
    case releases
    case member
    /// One of a set's memberships.
    case joins
    case forbid
    case share
    case closed
    case permit
    case require(PolicyDemand)
    case redact(Set<PolicyText>)
    case audit

    /// The part of the decision that the effect takes part in.
    enum Step {
        case forbid, reach, close, open
        /// Requirements, redactions, and the audit level.
        case tell
        case none
    }

    var step: Step {
        switch self {
        case .releases, .joins: .none
        case .forbid: .forbid
        case .member, .share: .reach
        case .closed: .close
        case .permit: .open
        case .require, .redact, .audit: .tell
        }
    }

    /// The truth that its match needs: an effect that allows more must match for certain.
    var least: Truth {
        switch self {
        case .member, .joins, .share, .permit: .yes
        case .releases, .forbid, .closed, .require, .redact, .audit: .unknown
        }
    }
}

/// One statement in one case, with the sets that have it.
struct RuleEffect: Hashable {
    let kind: RuleEffectKind
    let number: CaseNumber
    /// Bit 0: the first set; bit 1: the second.
    let sides: UInt8
    let match: PolicyMatch
    /// The set whose groups decide on membership.
    let groups: Int
}

/// A statement without its place in the sources.
struct Meaning: Hashable {
    let kind: RuleEffectKind
    let match: PolicyMatch
}

extension PolicySet {
    /// Whether a part of it holds on some days only.
    var hasDates: Bool {
        func isDated(_ condition: PolicyCondition) -> Bool {
            if case .date = condition { true } else { false }
        }
        return (rules.map(\.match) + closed.map(\.match)).contains {
            $0.box.conditions.contains(where: isDated)
        } || groups.contains { $0.members.joined().contains(where: isDated) }
    }

    /// The statements in force on the day, each once, in the order of the set. With `byDate`: those
    /// in force on the day or later, since a request's date decides.
    func meanings(on day: Int32, byDate: Bool) -> [Meaning] {
        var seen: Set<Meaning> = []
        return namedMeanings(on: day, byDate: byDate).map(\.meaning).filter {
            seen.insert($0).inserted
        }
    }

    /// The same with the ids of the statements.
    func namedMeanings(
        on day: Int32, byDate: Bool
    ) -> [(meaning: Meaning, id: PolicyText)] {
        func enforced(_ mode: PolicyMode, _ match: PolicyMatch) -> PolicyMatch? {
            guard let first = mode.firstDay, day < first else { return match }
            var later = match
            later.box.conditions.append(.date(first...(.max)))
            return byDate ? later : nil
        }
        let scopes = closed.compactMap { scope in
            enforced(scope.mode, scope.match).map { match in
                (meaning: Meaning(kind: .closed, match: match), id: scope.id)
            }
        }
        let own = rules.compactMap { rule -> (meaning: Meaning, id: PolicyText)? in
            guard let kind = RuleEffectKind(rule.effect) else { return nil }
            return enforced(rule.mode, rule.match).map { match in
                (meaning: Meaning(kind: kind, match: match), id: rule.id)
            }
        }
        let members = groups.flatMap { group in
            group.memberBoxes.map { box in
                (meaning: Meaning(kind: .member, match: PolicyMatch(box)), id: group.id)
            }
        }
        return scopes + own + members
    }

    /// The members of groups, as boxes.
    var memberBoxes: [PolicyBox] { groups.flatMap(\.memberBoxes) }
}

extension GroupMembership {
    fileprivate var memberBoxes: [PolicyBox] {
        let item = PolicyCondition.text(.accessGroup, [.literal(group)])
        return members.map { PolicyBox(operations: operations, $0 + [item]) }
    }
}

extension RuleEffectKind {
    /// nil for an effect without a part in decisions.
    init?(_ effect: PolicyEffect) {
        switch effect {
        case .forbid: self = .forbid
        case .permit: self = .permit
        case .share: self = .share
        case .require(let demand): self = .require(demand)
        case .redact(let names): self = .redact(Set(names))
        case .audit(.full): self = .audit
        case .audit(.decision), .limit: return nil
        }
    }
}

extension PolicyMatch {
    var tellsMembers: Bool { ([box] + exceptions).contains(where: \.tellsMembers) }

    /// The readings of keys that are exports under the match; whether the item is a key is checked
    /// elsewhere.
    var asRelease: PolicyMatch? {
        guard let box = box.asRelease else { return nil }
        return PolicyMatch(box, unless: exceptions.compactMap(\.asRelease))
    }
}

extension PolicyBox {
    static let releases = PolicyBox(
        operations: PolicyOperations(.readSecret),
        [.choice(.itemClass, mask: 1 << ChoiceField.keyClass)])

    var asRelease: PolicyBox? {
        guard operations.contains(.export) else { return nil }
        return PolicyBox(operations: Self.releases.operations, conditions)
    }

    var tellsMembers: Bool {
        conditions.contains { if case .boolean(.member, _) = $0 { true } else { false } }
    }
}
