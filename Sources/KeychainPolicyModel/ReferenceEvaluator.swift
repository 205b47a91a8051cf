// SPDX-License-Identifier: Apache-2.0

/// The definition of the decision function. It reads every rule and stays as simple as possible,
/// since the compiled engine is tested against it.
public struct ReferenceEvaluator: Sendable {
    public let policy: PolicySet

    public init(_ policy: PolicySet) { self.policy = policy }

    public func decide(_ request: PolicyRequest) -> PolicyDecision {
        var decision = decide(request) { $0.enforces(on: request.day) }
        let wouldDecide = decide(request) { _ in true }.outcome
        if wouldDecide != decision.outcome {
            decision.wouldDecide =
                wouldDecide == .interactionNotAllowed ? .challenge : wouldDecide
        }
        return decision
    }

    private func decide(
        _ request: PolicyRequest, inForce: (PolicyMode) -> Bool
    ) -> PolicyDecision {
        let cases = self.cases(of: request).map { Case(policy, $0, $1, inForce) }
        func ids(_ rules: KeyPath<Case, [PolicyText]>) -> [PolicyText] {
            Set(cases.flatMap { $0[keyPath: rules] }).sorted()
        }
        let needs = cases.flatMap { $0.needs(met: request.evidence) }
        var decision = PolicyDecision(outcome: .deny)
        decision.audit = cases.map(\.audit).max() ?? .decision
        decision.redacted = ids(\.redacted)
        if cases.contains(where: { !$0.forbids.isEmpty }) {
            decision.because = ids(\.forbids)
        } else if !cases.allSatisfy(\.reaches) {
            decision.because = []
        } else if !cases.allSatisfy(\.isOpen) {
            decision.because = ids(\.closing)
        } else if cases.contains(where: { $0.facts.constraint == .never }) {
            decision.because = []
        } else if needs.isEmpty {
            decision.outcome = .allow
            decision.because = ids(\.supporting)
        } else {
            let asks = PolicyCondition.boolean(.interactive, true).truth(of: request.facts) == .yes
            decision.outcome = asks ? .challenge : .interactionNotAllowed
            decision.because = ids(\.supporting)
            decision.requires = PolicyConstraint.all(needs).canonical
        }
        return decision
    }

    /// All operations that the request must be allowed, with the memberships that `groups:` give.
    public func cases(
        of request: PolicyRequest
    ) -> [(operation: PolicyOperation, facts: PolicyFacts)] {
        request.cases.map { ($0, withMembership($1, for: $0)) }
    }

    /// A subject that matches a member of the item's group for certain becomes a member.
    private func withMembership(
        _ facts: PolicyFacts, for operation: PolicyOperation
    ) -> PolicyFacts {
        let joins = policy.groups.contains { group in
            group.operations.contains(operation) && facts[.accessGroup] == .known([group.group])
                && group.members.contains { PolicyBox($0).truth(for: operation, facts) == .yes }
        }
        var facts = facts
        if joins { facts[.member] = .known(true) }
        return facts
    }
}

/// One operation on one item, with all statements that match it.
private struct Case {
    let operation: PolicyOperation
    let facts: PolicyFacts
    var forbids: [PolicyText] = []
    var permits: [PolicyText] = []
    var shares: [PolicyText] = []
    var requirements: [(id: PolicyText, demand: PolicyDemand)] = []
    var closed: [PolicyText] = []
    var redacted: [PolicyText] = []
    var audit = AuditLevel.decision

    init(
        _ policy: PolicySet, _ operation: PolicyOperation, _ facts: PolicyFacts,
        _ inForce: (PolicyMode) -> Bool
    ) {
        self.operation = operation
        self.facts = facts
        for scope in policy.closed where inForce(scope.mode) {
            if scope.match.truth(for: operation, facts) != .no { closed.append(scope.id) }
        }
        for rule in policy.rules where inForce(rule.mode) {
            let truth = rule.match.truth(for: operation, facts)
            switch rule.effect {
            case .permit where truth == .yes: permits.append(rule.id)
            case .share where truth == .yes: shares.append(rule.id)
            case .permit, .share, .limit: break
            case .forbid where truth != .no: forbids.append(rule.id)
            case .require(let demand) where truth != .no: requirements.append((rule.id, demand))
            case .redact(let names) where truth != .no: redacted += names
            case .audit(let level) where truth != .no: audit = max(audit, level)
            case .forbid, .require, .redact, .audit: break
            }
        }
    }

    var isMember: Bool { PolicyCondition.boolean(.member, true).truth(of: facts) == .yes }
    var reaches: Bool { isMember || facts.isLetIn || !shares.isEmpty }
    var isOpen: Bool { closed.isEmpty || !permits.isEmpty }
    var closing: [PolicyText] { isOpen ? [] : closed }
    var supporting: [PolicyText] {
        (closed.isEmpty ? [] : permits) + (isMember ? [] : shares) + requirements.map(\.id)
    }

    func needs(met evidence: [PolicyProof]) -> [PolicyConstraint] {
        ([facts.constraint.demand].compactMap(\.self) + requirements.map(\.demand))
            .filter { !$0.isMet(by: evidence, for: operation) }.map(\.constraint)
    }
}
