// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyCompiler
internal import KeychainPolicyEngine
internal import KeychainPolicyModel
internal import PolicyRequestSpace

/// Finds the rules that match a request, by the compiled engine: all of them forbid in it.
struct RuleFinder {
    /// In the order of their ids, with constraints in canonical form.
    private let rules: [PolicyRule]
    private let all: CompiledPolicy?
    private let forbids: CompiledPolicy?
    /// Of each number of `all` the place of its rule; nil for memberships.
    private let places: [Int?]
    private var twins: [Twin: [PolicyText]] = [:]
    private var isLeftOut: Set<PolicyText> = []

    private struct Twin: Hashable {
        let effect: PolicyEffect
        let match: PolicyMatch
    }

    /// The rules are sorted by their ids.
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

    /// nil for a set that can't be compiled, which has to be read.
    private static func forbidding(
        _ rules: [PolicyRule], _ groups: [GroupMembership]
    ) -> CompiledPolicy? {
        let forbidding = rules.map { rule in
            PolicyRule(id: rule.id, origin: rule.origin, effect: .forbid(""), match: rule.match)
        }
        return try? CompiledPolicy(PolicySet(rules: forbidding, groups: groups))
    }

    /// From now on the rule is none.
    mutating func leaveOut(_ id: PolicyText) { isLeftOut.insert(id) }

    /// Another rule that says the same.
    func twin(of rule: PolicyRule) -> PolicyText? {
        twins[Twin(effect: rule.effect.withoutReason, match: rule.match)]?.first {
            $0 != rule.id && !isLeftOut.contains($0)
        }
    }

    /// Those that may match the request.
    func rules(meeting request: PolicyRequest) -> [PolicyRule] {
        guard let all else { return rules.filter { !isLeftOut.contains($0.id) } }
        return all.statements(matching: request).compactMap { places[$0].map { rules[$0] } }
            .filter { !isLeftOut.contains($0.id) }
    }

    /// The same, and none where no forbid does.
    func forbids(meeting request: PolicyRequest) -> [PolicyRule] {
        // Most are met by none, which is soon known.
        if let forbids, forbids.decide(forbids.admit(request)).lead == nil { return [] }
        return rules(meeting: request)
    }
}

/// Finds whom groups take in.
struct MemberFinder {
    private let groups: [PolicyText: [GroupMembership]]
    private let boxes: [PolicyBox]
    private let texts: LiteralIndex

    init(_ groups: [GroupMembership]) {
        self.groups = Dictionary(grouping: groups, by: \.group)
        boxes = PolicySet(groups: groups).memberBoxes
        texts = LiteralIndex(boxes)
    }

    /// The request's facts, with the membership that groups give.
    func facts(of request: PolicyRequest) -> PolicyFacts {
        guard case .known(let names) = request.facts[.accessGroup], let name = names.first,
            let own = groups[name]
        else { return request.facts }
        let evaluator = ReferenceEvaluator(PolicySet(groups: own))
        return evaluator.cases(of: request).first?.facts ?? request.facts
    }

    /// The boxes in which a request of all the areas may be.
    func near(_ areas: [Area], _ budget: inout Budget) throws(Budget.Spent) -> [PolicyBox] {
        guard let first = areas.first else { return [] }
        let places = texts.places(near: first.box)
        try budget.spend(places.count / 8)
        return places.map { boxes[$0] }.filter { box in
            areas.allSatisfy { $0.mayOverlap(Area(box: box, least: .yes)) }
        }
    }
}
