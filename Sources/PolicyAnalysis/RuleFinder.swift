// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyCompiler
internal import KeychainPolicyEngine
internal import KeychainPolicyModel
internal import PolicyRequestSpace

/// Finds the rules that match a request, with the compiled engine, in which all of them are
/// forbids.
struct RuleFinder {
    /// Sorted by id, with constraints in canonical form.
    private let rules: [PolicyRule]
    private let all: CompiledPolicy?
    private let forbids: CompiledPolicy?
    /// For each number in `all` the index of its rule; nil for memberships.
    private let places: [Int?]
    private var twins: [Twin: [PolicyText]] = [:]
    private var isLeftOut: Set<PolicyText> = []

    private struct Twin: Hashable {
        let effect: PolicyEffect
        let match: PolicyMatch
    }

    /// The rules must be sorted by id.
    init(_ rules: [PolicyRule], _ groups: [GroupMembership]) {
        self.rules = rules.map { rule in
            var rule = rule
            rule.effect = rule.effect.withoutReason
            return rule
        }
        all = Self.forbidding(rules, groups)
        forbids = Self.forbidding(rules.filter { $0.effect.isForbid }, groups)
        let byID = Dictionary(
            rules.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { $1 })
        places =
            all.map { all in
                (0..<all.statementCount).map { all.provenance(of: $0).flatMap { byID[$0.id] } }
            } ?? []
        for rule in self.rules {
            twins[Twin(effect: rule.effect, match: rule.match), default: []].append(rule.id)
        }
    }

    /// nil for a set that can't be compiled; its rules are then evaluated one by one.
    private static func forbidding(
        _ rules: [PolicyRule], _ groups: [GroupMembership]
    ) -> CompiledPolicy? {
        let forbidding = rules.map { rule in
            PolicyRule(id: rule.id, origin: rule.origin, effect: .forbid(""), match: rule.match)
        }
        return try? CompiledPolicy(PolicySet(rules: forbidding, groups: groups))
    }

    /// Removes the rule.
    mutating func leaveOut(_ id: PolicyText) { isLeftOut.insert(id) }

    /// Another rule with the same effect and match.
    func twin(of rule: PolicyRule) -> PolicyText? {
        twins[Twin(effect: rule.effect.withoutReason, match: rule.match)]?.first {
            $0 != rule.id && !isLeftOut.contains($0)
        }
    }

    /// The rules that may match the request.
    func rules(meeting request: PolicyRequest) -> [PolicyRule] {
        guard let all else { return rules.filter { !isLeftOut.contains($0.id) } }
        return all.statements(matching: request).compactMap { places[$0].map { rules[$0] } }
            .filter { !isLeftOut.contains($0.id) }
    }

    /// The same, but empty where no forbid matches.
    func forbids(meeting request: PolicyRequest) -> [PolicyRule] {
        // Most requests match no forbid, which is found quickly.
        if let forbids, forbids.decide(forbids.admit(request)).lead == nil { return [] }
        return rules(meeting: request)
    }
}

/// Finds the members of groups.
struct MemberFinder {
    private let groups: [PolicyText: [GroupMembership]]
    private let boxes: [PolicyBox]
    private let texts: LiteralIndex

    init(_ groups: [GroupMembership]) {
        self.groups = Dictionary(grouping: groups, by: \.group)
        boxes = PolicySet(groups: groups).memberBoxes
        texts = LiteralIndex(boxes)
    }

    /// The request's facts, with the membership from groups.
    func facts(of request: PolicyRequest) -> PolicyFacts {
        guard case .known(let names) = request.facts[.accessGroup], let name = names.first,
            let own = groups[name]
        else { return request.facts }
        let evaluator = ReferenceEvaluator(PolicySet(groups: own))
        return evaluator.cases(of: request).first?.facts ?? request.facts
    }

    /// The boxes that may contain a request of all the areas.
    func near(_ areas: [Area], _ budget: inout Budget) throws(Budget.Spent) -> [PolicyBox] {
        guard let first = areas.first else { return [] }
        let places = texts.places(near: first.box)
        try budget.spend(places.count / 8)
        return places.map { boxes[$0] }.filter { box in
            areas.allSatisfy { $0.mayOverlap(Area(box: box, least: .yes)) }
        }
    }
}
