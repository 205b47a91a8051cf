// SPDX-License-Identifier: Apache-2.0
package import KeychainPolicyModel
internal import PolicyRequestSpace

/// A rule without an effect, or without an effect of its own.
package struct RuleFinding: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// No request is in its box outside of its exceptions.
        case neverMatches
        /// No request matches for certain: the rule counts only where a fact could not be
        /// established.
        case matchesOnlyTheUnknown
        /// Forbids refuse every request that it matches.
        case dead
        /// Others have the same effect, or more, on every request that it matches.
        case shadowed
        /// A permit that meets no closed scope.
        case permitsWhatIsOpen
        case notDecided
    }

    package let id: PolicyText
    package let origin: PolicyOrigin
    package let kind: Kind
    /// The statements that together cause it, sorted.
    package let by: [PolicyText]
}

extension PolicyAnalysis {
    /// All findings together may take this multiple of one question's budget.
    private static let mostFindings = 8

    /// Enforced rules whose removal would change no decision. Of rules that shadow each other the
    /// last one by id is named.
    package func findings() -> [RuleFinding] {
        let rules = policy.rules.filter(isEnforced).sorted { $0.id < $1.id }
        var finder = RuleFinder(rules, policy.groups)
        let members = MemberFinder(policy.groups)
        var findings: [RuleFinding] = []
        var budget = Budget(mostCells * Self.mostFindings)
        for rule in rules.reversed() {
            guard let finding = finding(rule, finder, members, &budget) else { continue }
            if finding.kind == .shadowed { finder.leaveOut(rule.id) }
            findings.append(finding)
        }
        return findings.reversed()
    }

    private func isEnforced(_ rule: PolicyRule) -> Bool {
        if case .permissive(let end) = rule.mode { day >= end } else { true }
    }

    private func finding(
        _ rule: PolicyRule, _ finder: RuleFinder, _ members: MemberFinder, _ budget: inout Budget
    ) -> RuleFinding? {
        func finding(_ kind: RuleFinding.Kind, by others: [PolicyText] = []) -> RuleFinding {
            RuleFinding(id: rule.id, origin: rule.origin, kind: kind, by: others.sorted())
        }
        let own = Claim(rule)
        do throws(Budget.Spent) {
            guard let witness = try left(of: [own], members, &budget) else {
                return finding(.neverMatches)
            }
            if !isCertain(own, witness, members) {
                let certain = Claim(id: rule.id, match: rule.match, least: .yes)
                if try left(of: [certain], members, &budget) == nil {
                    return finding(.matchesOnlyTheUnknown)
                }
            }
            if case .permit = rule.effect, try !meetsClosedScope(own, members, &budget) {
                return finding(.permitsWhatIsOpen)
            }
            if rule.effect.endsWithForbids {
                let by = try cover(
                    of: own, from: witness, members, &budget, by: finder.forbids
                ) { $0.effect.isForbid }
                if let by { return finding(.dead, by: by) }
            }
            if let twin = finder.twin(of: rule) { return finding(.shadowed, by: [twin]) }
            let by = try cover(of: own, from: witness, members, &budget, by: finder.rules) {
                $0.id != rule.id && $0.effect.implies(rule.effect)
            }
            return by.map { finding(.shadowed, by: $0) }
        } catch {
            return finding(.notDecided)
        }
    }

    /// Whether the request matches even if unknown facts count against it.
    private func isCertain(
        _ claim: Claim, _ request: PolicyRequest, _ members: MemberFinder
    ) -> Bool {
        claim.least == .yes
            || claim.match.truth(for: request.operation, members.facts(of: request)) == .yes
    }

    /// A permit and a forbid that overlap, with a request that both match. The request is refused,
    /// which may be intended: this is a hint, not a mistake.
    package struct Conflict: Sendable, Hashable {
        package let permit: PolicyText
        package let forbid: PolicyText
        package let request: PolicyRequest
    }

    /// The conflicts of the permit or forbid with this id; nil where the budget was spent.
    package func conflicts(of id: PolicyText) -> [Conflict]? {
        guard let rule = policy.rules.first(where: { $0.id == id }) else { return [] }
        var found: [Conflict] = []
        var budget = Budget(mostCells * Self.mostFindings)
        let members = MemberFinder(policy.groups)
        do throws(Budget.Spent) {
            for other in policy.rules where other.effect.opposes(rule.effect) {
                let (permit, forbid) = rule.effect.isForbid ? (other, rule) : (rule, other)
                guard Claim(permit).area.mayOverlap(Claim(forbid).area) else { continue }
                guard let request = try left(of: [Claim(permit), Claim(forbid)], members, &budget)
                else { continue }
                found.append(Conflict(permit: permit.id, forbid: forbid.id, request: request))
            }
        } catch {
            return nil
        }
        return found
    }

    /// A statement's match, and the truth that it needs.
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
            self.init(id: scope.id, match: scope.match, least: RuleEffectKind.closed.least)
        }

        var area: Area { Area(box: match.box, least: least) }
    }

    /// The most rules that are combined to cover one.
    private static let mostCoverers = 64

    /// The rules that together match every request of the claim; nil where they don't. Only rules
    /// are subtracted that match a remaining request, beginning with this one.
    private func cover(
        of claim: Claim, from witness: PolicyRequest, _ members: MemberFinder,
        _ budget: inout Budget, by meeting: (PolicyRequest) -> [PolicyRule],
        where counts: (PolicyRule) -> Bool
    ) throws(Budget.Spent) -> [PolicyText]? {
        var used: [Claim] = []
        var request = witness
        while used.count <= Self.mostCoverers {
            let facts = members.facts(of: request)
            let others = meeting(request)
            try budget.spend(1 + others.count)
            let next = others.first { other in
                counts(other)
                    && other.match.truth(for: request.operation, facts) >= other.effect.least
            }
            guard let next else { return nil }
            used.append(Claim(next))
            guard let left = try left(of: [claim], without: used, members, &budget) else {
                return used.map(\.id)
            }
            request = left
        }
        throw Budget.Spent()
    }

    /// A request that all of the claims match and none of the others, within a part of the budget;
    /// nil where there is none.
    private func left(
        of claims: [Claim], without others: [Claim] = [], _ members: MemberFinder,
        _ budget: inout Budget
    ) throws(Budget.Spent) -> PolicyRequest? {
        try budget.lend(mostCells / 10) { part throws(Budget.Spent) in
            try request(in: claims, without: others, members, &part)
        }
    }

    private func request(
        in claims: [Claim], without others: [Claim], _ members: MemberFinder,
        _ budget: inout Budget
    ) throws(Budget.Spent) -> PolicyRequest? {
        let all = claims + others
        let tellMembers = all.contains { $0.match.tellsMembers }
        let near = tellMembers ? try members.near(claims.map(\.area), &budget) : []
        let boxes = all.flatMap { [$0.match.box] + $0.match.exceptions }
        let universe = try Universe(boxes + near, from: day, &budget)
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
        _ permit: Claim, _ members: MemberFinder, _ budget: inout Budget
    ) throws(Budget.Spent) -> Bool {
        try budget.spend(policy.closed.count / 8)
        for scope in policy.closed.lazy.map(Claim.init) where scope.area.mayOverlap(permit.area) {
            if try left(of: [permit, scope], members, &budget) != nil { return true }
        }
        return false
    }
}

extension PolicyEffect {
    var isForbid: Bool { if case .forbid = self { true } else { false } }

    /// The effect without its reason, which is for people: rules that differ in it alone do the
    /// same.
    package var withoutReason: PolicyEffect {
        switch self {
        case .permit: .permit("")
        case .forbid: .forbid("")
        case .share: .share("")
        case .require(let demand):
            .require(
                PolicyDemand(
                    demand.constraint.canonical, within: demand.within, scope: demand.scope))
        case .limit, .redact, .audit: self
        }
    }

    /// The truth that the match of such a rule needs.
    var least: Truth {
        switch self {
        case .permit, .share: .yes
        case .forbid, .require, .limit, .redact, .audit: .unknown
        }
    }

    /// Whether a forbid makes the effect needless; a refused request is logged all the same.
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

    /// Whether the other effect adds nothing where this one applies.
    func implies(_ other: PolicyEffect) -> Bool {
        switch (self, other) {
        case (.forbid, .forbid), (.permit, .permit), (.share, .share): true
        case (.audit(let own), .audit(let its)): own >= its
        case (.redact(let own), .redact(let its)): Set(own).isSuperset(of: its)
        case (.require(let own), .require(let its)):
            own.within <= its.within && own.scope <= its.scope
                && own.constraint.canonical == its.constraint.canonical
        case (.limit(let own), .limit(let its)): own == its
        default: false
        }
    }
}
