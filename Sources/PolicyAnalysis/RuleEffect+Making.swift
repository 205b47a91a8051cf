// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel
internal import PolicyRequestSpace

/// The effects of one or two sets near some areas.
struct RuleEffectMaker {
    private(set) var effects: [RuleEffect] = []
    /// The memberships that only one of two sets has. Their union is one of the effects already;
    /// these tell which membership it is.
    private(set) var joins: [RuleEffect] = []
    /// For each set, the boxes of its groups' members.
    private(set) var groups: [[PolicyBox]]
    /// The requests of the question.
    private let near: [Area]
    private let texts: NearTexts

    /// The bit of a set's side is the set's index.
    init(
        _ sets: [[Meaning]], near: [Area], _ budget: inout Budget
    ) throws(Budget.Spent) {
        self.near = near
        try budget.spend(sets.reduce(0) { $0 + $1.count } * near.count / 8)
        let sets = sets.map { set in set.filter { $0.match.mayMatter(near, least: $0.kind.least) } }
        let texts = NearTexts(near)
        self.texts = texts
        groups = sets.map { set in
            set.filter { $0.kind == .member }.map { texts.narrow($0.match.box) }
        }
        let areAlike = Set(groups.map(Set.init)).count <= 1
        let all = UInt8(1 << sets.count) - 1
        add(.releases, .itself, all, PolicyMatch(.releases), 0)
        add(.member, PolicyMatch(PolicyBox([.boolean(.member, true)])), all, areAlike)
        var sides: [Meaning: UInt8] = [:]
        for (side, set) in sets.enumerated() {
            for meaning in set { sides[meaning, default: 0] |= 1 << UInt8(side) }
        }
        for meaning in sets.joined() {
            guard let own = sides.removeValue(forKey: meaning) else { continue }
            if meaning.kind != .member {
                add(meaning.kind, meaning.match, own, areAlike)
            } else if own != all {
                addJoins(meaning.match, own)
            }
        }
        // Many effects are equal near the areas.
        var seen: Set<RuleEffect> = []
        effects = effects.filter { seen.insert($0).inserted }
        joins = joins.filter { seen.insert($0).inserted }
    }

    private mutating func add(
        _ kind: RuleEffectKind, _ match: PolicyMatch, _ sides: UInt8, _ areGroupsAlike: Bool
    ) {
        for number in CaseNumber.allCases {
            guard let own = number == .itself ? match : match.asRelease else { continue }
            guard match.tellsMembers, !areGroupsAlike else {
                add(kind, number, sides, own, 0)
                continue
            }
            for side in groups.indices where sides & 1 << UInt8(side) != 0 {
                add(kind, number, 1 << UInt8(side), own, side)
            }
        }
    }

    private mutating func addJoins(_ match: PolicyMatch, _ side: UInt8) {
        for (number, own) in zip(CaseNumber.allCases, [match, match.asRelease]) {
            guard let own else { continue }
            joins.append(
                RuleEffect(
                    kind: .joins, number: number, sides: side, match: texts.narrow(own), groups: 0))
        }
    }

    private mutating func add(
        _ kind: RuleEffectKind, _ number: CaseNumber, _ sides: UInt8, _ match: PolicyMatch,
        _ groups: Int
    ) {
        let area = Area(box: match.box, least: kind.least)
        guard near.contains(where: area.mayOverlap) else { return }
        effects.append(
            RuleEffect(
                kind: kind, number: number, sides: sides, match: texts.narrow(match),
                groups: groups))
    }

    /// All boxes that distinguish requests.
    var boxes: [PolicyBox] {
        near.map(\.box) + groups.joined() + effects.flatMap { [$0.match.box] + $0.match.exceptions }
    }
}

extension PolicyMatch {
    /// Whether the match can have this truth for a request in one of the areas, or for the export
    /// that it also is.
    func mayMatter(_ near: [Area], least: Truth) -> Bool {
        [box, box.asRelease].compactMap(\.self).map { Area(box: $0, least: least) }
            .contains { near.contains(where: $0.mayOverlap) }
    }
}
