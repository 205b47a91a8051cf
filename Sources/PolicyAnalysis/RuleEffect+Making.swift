// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel
internal import PolicyRequestSpace

/// The effects of one or two sets near some areas.
struct RuleEffectMaker {
    private(set) var effects: [RuleEffect] = []
    /// Whom groups take in, of each set.
    private(set) var groups: [[PolicyBox]]
    /// The requests that the question is about.
    private let near: [Area]
    private let texts: NearTexts

    /// Of each set the bit of its side.
    init(
        _ sets: [[Meaning]], near: [Area], _ budget: inout Budget
    ) throws(Budget.Spent) {
        self.near = near
        try budget.spend(sets.reduce(0) { $0 + $1.count } * near.count / 8)
        let sets = sets.map { set in set.filter { $0.mayMatter(near) } }
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
        for meaning in sets.joined() where meaning.kind != .member {
            guard let own = sides.removeValue(forKey: meaning) else { continue }
            add(meaning.kind, meaning.match, own, areAlike)
        }
        // Many are the same near what is asked for.
        var seen: Set<RuleEffect> = []
        effects = effects.filter { seen.insert($0).inserted }
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

    /// All boxes that anything is told apart by.
    var boxes: [PolicyBox] {
        near.map(\.box) + groups.joined() + effects.flatMap { [$0.match.box] + $0.match.exceptions }
    }
}

extension Meaning {
    /// Whether a request in one of the areas, or the export that it is, can be in the box.
    fileprivate func mayMatter(_ near: [Area]) -> Bool {
        let own = Area(box: match.box, least: kind.least)
        if near.contains(where: own.mayOverlap) { return true }
        guard let release = match.box.asRelease else { return false }
        let area = Area(box: release, least: kind.least)
        return near.contains(where: area.mayOverlap)
    }
}
