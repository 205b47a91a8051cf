// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyEngine
package import KeychainPolicyModel
internal import PolicyLanguage

/// Decides recorded requests under another set. A record has no names of items, so they count as
/// unknown; where the answer depends on them, it says so.
package struct PolicyReplay: Sendable {
    package enum Verdict: Sendable, Hashable {
        case same, otherwise, perhaps
    }

    private let policy: PolicySet

    package init(_ policy: PolicySet) { self.policy = policy }

    /// `requires` is the recorded requirement, as canonical JSON.
    package func verdict(
        on request: PolicyRequest, was outcome: PolicyOutcome, _ requires: String?
    ) -> (verdict: Verdict, decision: PolicyDecision) {
        let decision = ReferenceEvaluator(policy).decide(request)
        let isSame = decision.answers(outcome, requires)
        let open = undecided(by: request)
        guard !open.isEmpty else { return (isSame ? .same : .otherwise, decision) }
        // The other extreme: statements that restrict don't match, and statements that grant do.
        let loosest = ReferenceEvaluator(policy.settling(open)).decide(request)
        let isCertain =
            loosest.outcome == decision.outcome && loosest.requires == decision.requires
        return (isCertain ? (isSame ? .same : .otherwise) : .perhaps, decision)
    }

    /// The statements whose match depends on a name that is missing.
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
    /// The set without those statements that restrict, and with those that grant matching every
    /// item's name.
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
