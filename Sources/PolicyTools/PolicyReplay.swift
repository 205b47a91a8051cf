// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyEngine
package import KeychainPolicyModel
internal import PolicyLanguage

/// What another set makes of requests that were recorded. A record keeps the names of items back, so
/// they count as unknown; where the answer hangs on them it says so.
package struct PolicyReplay: Sendable {
    package enum Verdict: Sendable, Hashable {
        case same, otherwise, perhaps
    }

    private let policy: PolicySet

    package init(_ policy: PolicySet) { self.policy = policy }

    /// `requires`: what was asked for then, as canonical JSON.
    package func verdict(
        on request: PolicyRequest, was outcome: PolicyOutcome, _ requires: String?
    ) -> (verdict: Verdict, decision: PolicyDecision) {
        let decision = ReferenceEvaluator(policy).decide(request)
        let isSame = decision.answers(outcome, requires)
        let open = undecided(by: request)
        guard !open.isEmpty else { return (isSame ? .same : .otherwise, decision) }
        // At the other end: what tightens matches not, and what widens does.
        let loosest = ReferenceEvaluator(policy.settling(open)).decide(request)
        let isCertain =
            loosest.outcome == decision.outcome && loosest.requires == decision.requires
        return (isCertain ? (isSame ? .same : .otherwise) : .perhaps, decision)
    }

    /// The statements of which can't be told whether they match, for want of a name.
    private func undecided(by request: PolicyRequest) -> Set<PolicyText> {
        let cases = ReferenceEvaluator(policy).cases(of: request)
        return Set(
            policy.statements.filter { statement in
                cases.contains { statement.match.truth(for: $0, $1) == .unknown }
                    && statement.match.namesItems
            }.map(\.id))
    }
}

extension PolicyDecision {
    fileprivate func answers(_ outcome: PolicyOutcome, _ requires: String?) -> Bool {
        let alike: Set<PolicyOutcome> = [.challenge, .interactionNotAllowed]
        if alike.contains(outcome), alike.contains(self.outcome) {
            return requires == self.requires?.json
        }
        return outcome == self.outcome
    }
}

extension PolicyMatch {
    fileprivate var namesItems: Bool {
        ([box] + exceptions).contains { box in
            box.conditions.contains { condition in
                TextField.itemNames.contains { condition.isText($0) }
            }
        }
    }
}

extension PolicySet {
    /// The set in which those that tighten are gone, and those that widen hold whatever an item is
    /// called.
    fileprivate func settling(_ ids: Set<PolicyText>) -> PolicySet {
        var copy = self
        copy.closed.removeAll { ids.contains($0.id) }
        copy.rules.removeAll { ids.contains($0.id) && !$0.effect.grants }
        for place in copy.rules.indices where ids.contains(copy.rules[place].id) {
            copy.rules[place].match.box.conditions.removeAll { condition in
                TextField.itemNames.contains { condition.isText($0) }
            }
            copy.rules[place].match.exceptions.removeAll {
                PolicyMatch($0).namesItems
            }
        }
        return copy
    }
}
