// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyEngine
package import KeychainPolicyModel
package import PolicyLanguage

/// One small change of a rule that tests should notice.
package struct PolicyMutation: Sendable {
    package let id: PolicyText
    package let origin: PolicyOrigin
    /// What was changed, in words.
    package let change: String
    let mutated: PolicySet

    /// Changes that no test notices, and how many were tried. A file's tests run against the
    /// file's rules, so each file is changed by itself, and then the set for the files of tests.
    package static func survivors(
        of loaded: LoadedPolicies
    ) -> (tried: Int, survivors: [PolicyMutation]) {
        var tried = 0
        var survivors: [PolicyMutation] = []
        let setTests = loaded.files.filter(\.isTestFile).flatMap(\.tests)
        for file in loaded.files where !file.isTestFile {
            for mutation in all(of: file.policy) {
                tried += 1
                let whole = setTests.isEmpty ? nil : loaded.policy.replacing(mutation)
                let isSeen =
                    noticed(file.tests, mutation.mutated)
                    || whole.map { noticed(setTests, $0) } ?? false
                if !isSeen { survivors.append(mutation) }
            }
        }
        return (tried, survivors)
    }

    private static func noticed(_ tests: [PolicyTest], _ policy: PolicySet) -> Bool {
        let evaluator = ReferenceEvaluator(policy)
        return tests.contains { !$0.expected.differences(evaluator.decide($0.request)).isEmpty }
    }

    static func all(of policy: PolicySet) -> [PolicyMutation] {
        policy.rules.indices.flatMap { place -> [PolicyMutation] in
            let rule = policy.rules[place]
            return changes(of: rule).map { change, changed in
                var mutated = policy
                if let changed {
                    mutated.rules[place] = changed
                } else {
                    mutated.rules.remove(at: place)
                }
                return PolicyMutation(
                    id: rule.id, origin: rule.origin, change: change, mutated: mutated)
            }
        }
            + policy.closed.indices.flatMap { place -> [PolicyMutation] in
                let scope = policy.closed[place]
                return matches(of: scope.match, mayDropAll: true).map { change, match in
                    var mutated = policy
                    if let match {
                        mutated.closed[place].match = match
                    } else {
                        mutated.closed.remove(at: place)
                    }
                    return PolicyMutation(
                        id: scope.id, origin: scope.origin, change: change, mutated: mutated)
                }
            }
    }

    // MARK: Changes

    private static func changes(of rule: PolicyRule) -> [(String, PolicyRule?)] {
        // A decision does not count limits.
        if case .limit = rule.effect { return [] }
        return matches(of: rule.match, mayDropAll: true).map { change, match in
            (change, match.map { rule.with(match: $0) })
        } + effects(of: rule.effect).map { change, effect in (change, rule.with(effect: effect)) }
    }

    private static func matches(
        of match: PolicyMatch, mayDropAll: Bool
    ) -> [(String, PolicyMatch?)] {
        var found: [(String, PolicyMatch?)] = mayDropAll ? [("removed", nil)] : []
        if match.box.operations != .all {
            var changed = match
            changed.box.operations = .all
            found.append(("operations dropped", changed))
        }
        for (place, condition) in match.box.conditions.enumerated() {
            var changed = match
            changed.box.conditions.remove(at: place)
            found.append(("\(condition.fieldName) dropped", changed))
            for (what, wider) in condition.widened {
                changed = match
                changed.box.conditions[place] = wider
                found.append(("\(condition.fieldName) widened to \(what)", changed))
            }
        }
        for place in match.exceptions.indices {
            var changed = match
            changed.exceptions.remove(at: place)
            found.append(("unless[\(place)] dropped", changed))
        }
        return found
    }

    private static func effects(of effect: PolicyEffect) -> [(String, PolicyEffect)] {
        switch effect {
        case .permit(let reason): [("permit made forbid", .forbid(reason))]
        case .forbid(let reason): [("forbid made permit", .permit(reason))]
        case .share(let reason): [("share made forbid", .forbid(reason))]
        case .require(let demand):
            [("require made forbid", .forbid(""))]
                + (demand.within > .zero
                    ? [
                        (
                            "within made 0s",
                            .require(PolicyDemand(demand.constraint, scope: demand.scope))
                        )
                    ] : [])
        case .audit(let level):
            [("audit level changed", .audit(level == .full ? .decision : .full))]
        case .redact, .limit: []
        }
    }
}

extension PolicyCondition {
    /// The same with one literal made a prefix.
    fileprivate var widened: [(String, PolicyCondition)] {
        guard case .text(let field, let patterns) = self else { return [] }
        return patterns.enumerated().compactMap { place, pattern in
            guard case .literal(let text) = pattern else { return nil }
            var wider = patterns
            wider[place] = .prefix(text)
            return (wider[place].description, .text(field, wider))
        }
    }
}

extension PolicyRule {
    fileprivate func with(match: PolicyMatch) -> PolicyRule {
        var copy = self
        copy.match = match
        return copy
    }

    fileprivate func with(effect: PolicyEffect) -> PolicyRule {
        var copy = self
        copy.effect = effect
        return copy
    }
}

extension PolicySet {
    /// The same change in a set that holds the file's rules.
    fileprivate func replacing(_ mutation: PolicyMutation) -> PolicySet {
        var copy = self
        copy.rules.removeAll { $0.id == mutation.id }
        copy.rules += mutation.mutated.rules.filter { $0.id == mutation.id }
        copy.closed.removeAll { $0.id == mutation.id }
        copy.closed += mutation.mutated.closed.filter { $0.id == mutation.id }
        return copy
    }
}
