// SPDX-License-Identifier: Apache-2.0
public import AccessControl

/// A rule that decides nothing, or nothing that others don't.
public struct RuleFinding: Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        /// No request is in its box outside of its exceptions.
        case neverMatches
        /// None is for certain: it counts only where a fact could not be established.
        case matchesOnlyTheUnknown
        /// Forbids refuse everything that it matches.
        case dead
        /// Others do the same, or more, everywhere that it matches.
        case shadowed
        /// A permit that no closed scope meets.
        case permitsWhatIsOpen
        case notDecided
    }

    public let id: PolicyText
    public let origin: PolicyOrigin
    public let kind: Kind
    /// The statements that together make it so, sorted.
    public let by: [PolicyText]
}

extension PolicyAnalysis {
    /// All together may take so many times the budget of one question.
    private static let mostFindings = 8

    /// Rules in force that could go without a decision changing. Of rules that shadow each other
    /// the one that comes last by its id is named.
    public func findings() -> [RuleFinding] {
        let rules = policy.rules.filter(isEnforced).sorted { $0.id < $1.id }
        let candidates = CoverCandidates(rules, day)
        var shadowed: Set<PolicyText> = []
        var findings: [RuleFinding] = []
        var budget = Budget(mostCells * Self.mostFindings)
        for rule in rules.reversed() {
            guard let finding = finding(rule, rules, candidates, shadowed, &budget)
            else { continue }
            if finding.kind == .shadowed { shadowed.insert(rule.id) }
            findings.append(finding)
        }
        return findings.reversed()
    }

    private func isEnforced(_ rule: PolicyRule) -> Bool {
        if case .complain(let end) = rule.mode { day >= end } else { true }
    }

    private func finding(
        _ rule: PolicyRule, _ rules: [PolicyRule], _ candidates: CoverCandidates,
        _ shadowed: Set<PolicyText>, _ budget: inout Budget
    ) -> RuleFinding? {
        func finding(_ kind: RuleFinding.Kind, by others: [PolicyText] = []) -> RuleFinding {
            RuleFinding(id: rule.id, origin: rule.origin, kind: kind, by: others.sorted())
        }
        let own = Claim(rule)
        do throws(Budget.Spent) {
            guard case .open(let witness) = try coverage(of: [own], by: [], &budget) else {
                return finding(.neverMatches)
            }
            let certain = Claim(id: rule.id, match: rule.match, least: .yes)
            if own.least == .unknown, case .covered = try coverage(of: [certain], by: [], &budget) {
                return finding(.matchesOnlyTheUnknown)
            }
            if case .permit = rule.effect, try !meetsClosedScope(own, &budget) {
                return finding(.permitsWhatIsOpen)
            }
            if rule.effect.endsWithForbids, candidates.mayBeDead(witness) {
                let forbids = rules.filter { $0.effect.isForbid }.map(Claim.init)
                if case .covered(let by) = try coverage(of: [own], by: forbids, &budget) {
                    return finding(.dead, by: by)
                }
            }
            guard candidates.mayBeShadowed(rule, witness) else { return nil }
            let others = rules.filter {
                $0.id != rule.id && !shadowed.contains($0.id) && $0.effect.implies(rule.effect)
            }
            if case .covered(let by) = try coverage(of: [own], by: others.map(Claim.init), &budget)
            {
                return finding(.shadowed, by: by)
            }
            return nil
        } catch {
            return finding(.notDecided)
        }
    }

    /// What a statement matches, with how true that must be.
    private struct Claim {
        let id: PolicyText
        let match: PolicyMatch
        let least: Truth

        init(id: PolicyText, match: PolicyMatch, least: Truth) {
            (self.id, self.match, self.least) = (id, match, least)
        }

        init(_ rule: PolicyRule) {
            self.init(id: rule.id, match: rule.match, least: rule.effect.least)
        }

        init(_ scope: ClosedScope) {
            self.init(id: scope.id, match: scope.match, least: FacetKind.closed.least)
        }

        var area: Area { Area(box: match.box, least: least) }
    }

    private enum Coverage {
        /// A request that none of the others matches.
        case open(PolicyRequest)
        /// Those that together match all.
        case covered([PolicyText])
    }

    /// At most so many rules are taken together to cover one.
    private static let mostCoverers = 64

    /// Whether the others match all that these match together. Only those are taken away that match
    /// a request which is left.
    private func coverage(
        of claims: [Claim], by others: [Claim], _ budget: inout Budget
    ) throws(Budget.Spent) -> Coverage {
        let evaluator = ReferenceEvaluator(PolicySet(groups: policy.groups))
        var used: [Claim] = []
        while used.count <= Self.mostCoverers {
            let left = try budget.lend(mostCells / 10) { part throws(Budget.Spent) in
                try self.left(of: claims, without: used, &part)
            }
            guard let request = left else {
                return .covered(used.map(\.id))
            }
            let facts = evaluator.cases(of: request).first?.facts ?? request.facts
            try budget.spend(1 + others.count / 2)
            let next = others.first {
                $0.match.truth(for: request.operation, facts) >= $0.least
            }
            guard let next else { return .open(request) }
            used.append(next)
        }
        throw Budget.Spent()
    }

    /// A request that all of the claims match and none of the others; nil where there is none.
    private func left(
        of claims: [Claim], without others: [Claim], _ budget: inout Budget
    ) throws(Budget.Spent) -> PolicyRequest? {
        let all = claims + others
        let groups = all.contains { $0.match.tellsMembers } ? policy.memberBoxes : []
        let near = groups.filter { group in
            claims.allSatisfy { $0.area.mayMeet(Area(box: group, least: .yes)) }
        }
        let boxes = all.flatMap { [$0.match.box] + $0.match.exceptions }
        let universe = try Universe(boxes + near, &budget)
        let joined = try universe.union(of: near, .yes, &budget)
        var cells = [universe.everything]
        for claim in claims {
            let own = try universe.cells(of: claim.match, claim.least, joined: joined, &budget)
            try budget.spend(cells.count * own.count * universe.algebra.cost)
            cells = cells.flatMap { cell in own.map(cell.intersection) }
                .filter { !universe.algebra.isEmpty($0) }
        }
        for other in others where !cells.isEmpty {
            let taken = try universe.cells(of: other.match, other.least, joined: joined, &budget)
            cells = try universe.algebra.subtract(taken, from: cells, &budget)
        }
        for cell in cells {
            if let first = try universe.possible(cell, &budget).first {
                return universe.witness(of: first, day: day)
            }
        }
        return nil
    }

    private func meetsClosedScope(
        _ permit: Claim, _ budget: inout Budget
    ) throws(Budget.Spent) -> Bool {
        for scope in policy.closed.map(Claim.init) where scope.area.mayMeet(permit.area) {
            if case .open = try coverage(of: [permit, scope], by: [], &budget) { return true }
        }
        return false
    }

    /// A permit and a forbid that meet, with a request that both match. It is refused, which may be
    /// what was meant: this is a hint and no mistake.
    public struct Conflict: Sendable, Hashable {
        public let permit: PolicyText
        public let forbid: PolicyText
        public let request: PolicyRequest
    }

    /// The conflicts of a permit or a forbid, by its id; nil where the budget ran out.
    public func conflicts(of id: PolicyText) -> [Conflict]? {
        guard let rule = policy.rules.first(where: { $0.id == id }) else { return [] }
        var found: [Conflict] = []
        var budget = Budget(mostCells * Self.mostFindings)
        do throws(Budget.Spent) {
            for other in policy.rules where other.effect.opposes(rule.effect) {
                let (permit, forbid) = rule.effect.isForbid ? (other, rule) : (rule, other)
                guard Claim(permit).area.mayMeet(Claim(forbid).area) else { continue }
                guard
                    case .open(let request) = try coverage(
                        of: [Claim(permit), Claim(forbid)], by: [], &budget)
                else { continue }
                found.append(Conflict(permit: permit.id, forbid: forbid.id, request: request))
            }
        } catch {
            return nil
        }
        return found
    }
}

/// Tells quickly, with one request of a rule, that others don't cover it: by the compiled engine,
/// in which all of them forbid.
private struct CoverCandidates {
    private let all: CompiledPolicy?
    private let forbids: Set<PolicyText>
    private let effects: [PolicyText: PolicyEffect]

    init(_ rules: [PolicyRule], _ day: Int32) {
        let forbidding = rules.map { rule in
            PolicyRule(
                id: rule.id, origin: rule.origin, effect: .forbid(""), match: rule.match)
        }
        all = try? CompiledPolicy(PolicySet(rules: forbidding))
        forbids = Set(rules.filter { $0.effect.isForbid }.map(\.id))
        effects = Dictionary(rules.map { ($0.id, $0.effect) }, uniquingKeysWith: { $1 })
    }

    func mayBeDead(_ request: PolicyRequest) -> Bool {
        guard let all else { return true }
        return all.decision(on: request).because.contains { forbids.contains($0) }
    }

    func mayBeShadowed(_ rule: PolicyRule, _ request: PolicyRequest) -> Bool {
        guard let all else { return true }
        return all.decision(on: request).because.contains { id in
            id != rule.id && effects[id]?.implies(rule.effect) ?? true
        }
    }
}

extension PolicyEffect {
    var isForbid: Bool { if case .forbid = self { true } else { false } }

    /// How true the match of such a rule must be.
    fileprivate var least: Truth {
        switch self {
        case .permit, .share: .yes
        case .forbid, .require, .limit, .redact, .audit: .unknown
        }
    }

    /// What is refused is written down all the same.
    fileprivate var endsWithForbids: Bool {
        switch self {
        case .forbid, .audit: false
        case .permit, .share, .require, .limit, .redact: true
        }
    }

    fileprivate func opposes(_ other: PolicyEffect) -> Bool {
        switch (self, other) {
        case (.forbid, .permit), (.permit, .forbid): true
        default: false
        }
    }

    /// Whether the other adds nothing where this is.
    fileprivate func implies(_ other: PolicyEffect) -> Bool {
        switch (self, other) {
        case (.forbid, .forbid), (.permit, .permit), (.share, .share): true
        case (.audit(let own), .audit(let its)): own >= its
        case (.redact(let own), .redact(let its)): Set(own).isSuperset(of: its)
        case (.require(let own), .require(let its)):
            own.constraint.canonical == its.constraint.canonical && own.within <= its.within
                && own.scope <= its.scope
        case (.limit(let own), .limit(let its)): own == its
        default: false
        }
    }
}
