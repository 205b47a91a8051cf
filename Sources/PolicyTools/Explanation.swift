// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyCompiler
internal import KeychainPolicyEngine
package import KeychainPolicyModel
internal import PolicyAnalysis

/// A decision with the places of its rules, and the rules that missed it by one field.
package struct Explanation: Sendable {
    package struct Rule: Sendable {
        package let id: PolicyText
        package let origin: PolicyOrigin
        /// The effect with its reason, or the requirement.
        package let words: String
    }

    package struct NearMiss: Sendable {
        package let id: PolicyText
        package let origin: PolicyOrigin
        /// The only field that did not match.
        package let field: String
    }

    package let decision: PolicyDecision
    package let because: [Rule]
    /// The persons who approved, by the request's evidence.
    package let approvers: [String]
    /// Why it is denied where no rule forbids it: no statement let it through.
    package let refusal: String?
    /// The statements that would have let it through, the closest ones first.
    package let closest: [Lacking]
    package let nearMisses: [NearMiss]

    package init(_ request: PolicyRequest, under policy: PolicySet) {
        let evaluator = ReferenceEvaluator(policy)
        let decision = evaluator.decide(request)
        let named = Set(decision.because)
        self.decision = decision
        approvers = request.evidence.compactMap(\.method.approver)
        because = policy.explained.filter { named.contains($0.id) }.sorted { $0.id < $1.id }
        let cases = evaluator.cases(of: request)
        let denial = Denial(decision, cases, policy, request.day)
        refusal = denial?.words
        closest = denial.map { Lacking.least($0.openings(of: policy, request.day), cases) } ?? []
        let lacking = Set(closest.map(\.id))
        nearMisses = policy.statements.filter {
            !named.contains($0.id) && !lacking.contains($0.id)
        }.compactMap { statement in
            let missed = cases.compactMap { statement.onlyMiss($0.operation, $0.facts) }
            return missed.first.map {
                NearMiss(id: statement.id, origin: statement.origin, field: $0)
            }
        }.sorted { $0.id < $1.id }
    }
}

extension PolicyStatement {
    /// The name of the only part that did not match; nil when none or several did not.
    fileprivate func onlyMiss(_ operation: PolicyOperation, _ facts: PolicyFacts) -> String? {
        let failing = match.parts.filter { !isMet(match.truth($0.part, operation, facts)) }
        return failing.count == 1 ? failing.first?.name : nil
    }
}

extension PolicySet {
    fileprivate var explained: [Explanation.Rule] {
        closed.map {
            Explanation.Rule(id: $0.id, origin: $0.origin, words: "closed: nothing permits it")
        }
            + rules.map { rule in
                let replaced = rule.replaces.map { " (replaces \($0))" } ?? ""
                return Explanation.Rule(
                    id: rule.id, origin: rule.origin, words: rule.effect.words + replaced)
            }
    }
}

extension PolicyEffect {
    /// The text for people.
    var words: String {
        switch self {
        case .permit(let reason): "permit: \(reason)"
        case .forbid(let reason): "forbid: \(reason)"
        case .share(let reason): "share: \(reason)"
        case .require(let demand):
            "require: \(demand.constraint.json) within \(demand.within), scope \(demand.scope.word)"
        case .limit(let limit): "limit: \(limit.count)/\(limit.per)"
        case .redact(let names): "redact: " + names.map(\.shown).joined(separator: ", ")
        case .audit(let level): "audit: \(level.word)"
        }
    }
}
