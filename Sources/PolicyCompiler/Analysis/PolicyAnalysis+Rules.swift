// SPDX-License-Identifier: Apache-2.0
public import AccessControl

/// A rule that decides nothing, or nothing that others don't.
public struct RuleFinding: Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        /// No request is in its box outside of its exceptions.
        case neverMatches
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
    /// Rules in force that could go without a decision changing. Of rules that shadow each other
    /// the one that comes last by its id is named.
    public func findings() -> [RuleFinding] {
        let rules = policy.rules.filter(isEnforced).sorted { $0.id < $1.id }
        let candidates = CoverCandidates(rules, day)
        var shadowed: Set<PolicyText> = []
        var findings: [RuleFinding] = []
        for rule in rules.reversed() {
            guard let finding = finding(rule, rules, candidates, shadowed) else { continue }
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
        _ shadowed: Set<PolicyText>
    ) -> RuleFinding? {
        func finding(_ kind: RuleFinding.Kind, by others: [PolicyText] = []) -> RuleFinding {
            RuleFinding(id: rule.id, origin: rule.origin, kind: kind, by: others.sorted())
        }
        do {
            guard case .open(let witness) = try coverage(of: rule.match, by: []) else {
                return finding(.neverMatches)
            }
            if case .permit = rule.effect, try !meetsClosedScope(rule.match) {
                return finding(.permitsWhatIsOpen)
            }
            if rule.effect.endsWithForbids, candidates.mayBeDead(witness) {
                let forbids = rules.filter {
                    $0.effect.isForbid && $0.match.box.mayMeet(rule.match.box)
                }
                if case .covered(let by) = try coverage(of: rule.match, by: forbids) {
                    return finding(.dead, by: by)
                }
            }
            guard candidates.mayBeShadowed(rule, witness) else { return nil }
            let others = rules.filter {
                $0.id != rule.id && !shadowed.contains($0.id) && $0.effect.implies(rule.effect)
                    && $0.match.box.mayMeet(rule.match.box)
            }
            if case .covered(let by) = try coverage(of: rule.match, by: others) {
                return finding(.shadowed, by: by)
            }
            return nil
        } catch {
            return finding(.notDecided)
        }
    }

    private enum Coverage {
        /// A request that none of the others matches.
        case open(PolicyRequest)
        /// Those that together match all.
        case covered([PolicyText])
    }

    /// At most so many rules are taken together to cover one.
    private static let mostCoverers = 64

    /// Whether the rules match all that the match does. Only those are taken away that match a
    /// request which is left.
    private func coverage(
        of match: PolicyMatch, by rules: [PolicyRule]
    ) throws(Budget.Spent) -> Coverage {
        var used: [PolicyRule] = []
        while used.count <= Self.mostCoverers {
            let boxes = ([match] + used.map(\.match)).flatMap { [$0.box] + $0.exceptions }
            guard let universe = Universe(boxes) else { throw Budget.Spent() }
            var budget = Budget(mostCells / 10)
            var cells = try universe.cells(of: match, &budget)
            for rule in used where !cells.isEmpty {
                let taken = try universe.cells(of: rule.match, &budget)
                cells = try universe.algebra.subtract(taken, from: cells, &budget)
            }
            guard let first = cells.first else { return .covered(used.map(\.id)) }
            let request = universe.witness(of: first, day: day)
            let next = rules.first {
                $0.match.truth(for: request.operation, request.facts) == .yes
            }
            guard let next else { return .open(request) }
            used.append(next)
        }
        throw Budget.Spent()
    }

    private func meetsClosedScope(_ match: PolicyMatch) throws(Budget.Spent) -> Bool {
        for scope in policy.closed where scope.match.box.mayMeet(match.box) {
            let both = PolicyMatch(
                PolicyBox(
                    operations: match.box.operations.intersection(scope.match.box.operations),
                    match.box.conditions + scope.match.box.conditions),
                unless: match.exceptions + scope.match.exceptions)
            if case .open = try coverage(of: both, by: []) { return true }
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
        do {
            for other in policy.rules where other.effect.opposes(rule.effect) {
                guard other.match.box.mayMeet(rule.match.box) else { continue }
                let (permit, forbid) = rule.effect.isForbid ? (other, rule) : (rule, other)
                let both = PolicyMatch(
                    PolicyBox(
                        operations: permit.match.box.operations
                            .intersection(forbid.match.box.operations),
                        permit.match.box.conditions + forbid.match.box.conditions),
                    unless: permit.match.exceptions + forbid.match.exceptions)
                guard case .open(let request) = try coverage(of: both, by: []) else { continue }
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
