// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyCompiler
internal import KeychainPolicyEngine
package import KeychainPolicyModel
internal import PolicyAnalysis

extension Explanation {
    /// A statement that would have let the request through if it had matched.
    package struct Lacking: Sendable {
        package let id: PolicyText
        package let origin: PolicyOrigin
        /// The effect with its reason.
        package let words: String
        /// The fields that did not match, with the request's values.
        package let fields: [String]
    }

    /// The test that the request failed for want of a match.
    enum Denial {
        case unreached, closed, never

        init?(
            _ decision: PolicyDecision, _ cases: [(operation: PolicyOperation, facts: PolicyFacts)],
            _ policy: PolicySet, _ day: Int32
        ) {
            guard decision.outcome == .deny else { return nil }
            let named = Set(decision.because)
            if policy.closed.contains(where: { named.contains($0.id) }) {
                self = .closed
            } else if !named.isEmpty {
                return nil
            } else {
                let shares = policy.openings(on: day) {
                    if case .share = $0 { true } else { false }
                }
                let isReached = cases.allSatisfy { operation, facts in
                    PolicyCondition.boolean(.member, true).truth(of: facts) == .yes
                        || shares.contains { $0.match.truth(for: operation, facts) == .yes }
                }
                self = isReached ? .never : .unreached
            }
        }

        var words: String {
            switch self {
            case .unreached:
                "the program is no member of the item's access group, and nothing lets it in"
            case .closed: "nothing permits it"
            case .never: "the item's own access control never allows it"
            }
        }

        /// The statements that could have let it pass.
        func openings(of policy: PolicySet, _ day: Int32) -> [Opening] {
            switch self {
            case .never: []
            case .closed:
                policy.openings(on: day) { if case .permit = $0 { true } else { false } }
            case .unreached:
                policy.openings(on: day) { if case .share = $0 { true } else { false } }
                    + policy.memberships
            }
        }
    }
}

/// A permit, a share or a member of a group.
struct Opening {
    let id: PolicyText
    let origin: PolicyOrigin
    let words: String
    let match: PolicyMatch
}

extension PolicySet {
    fileprivate func openings(on day: Int32, _ isOne: (PolicyEffect) -> Bool) -> [Opening] {
        rules.filter { rule in
            if case .permissive(let end) = rule.mode, day < end { return false }
            return isOne(rule.effect)
        }.map {
            Opening(id: $0.id, origin: $0.origin, words: $0.effect.words, match: $0.match)
        }
    }

    fileprivate var memberships: [Opening] {
        groups.flatMap { group in
            group.members.map { member in
                let item = PolicyCondition.text(.accessGroup, [.literal(group.group)])
                return Opening(
                    id: group.id, origin: group.origin, words: "member of \(group.group)",
                    match: PolicyMatch(PolicyBox(operations: group.operations, member + [item])))
            }
        }
    }
}

extension Explanation.Lacking {
    private static let most = 5

    static func least(
        _ openings: [Opening], _ cases: [(operation: PolicyOperation, facts: PolicyFacts)]
    ) -> [Self] {
        let all = openings.compactMap { opening -> Self? in
            let fields = cases.map { operation, facts in
                opening.match.parts.filter {
                    opening.match.truth($0.part, operation, facts) != .yes
                }.map { "\($0.name) (\(facts.words(for: $0.name, operation)))" }
            }.filter { !$0.isEmpty }.min { $0.count < $1.count }
            return fields.map {
                Self(id: opening.id, origin: opening.origin, words: opening.words, fields: $0)
            }
        }
        return Array(
            all.sorted { ($0.fields.count, $0.id) < ($1.fields.count, $1.id) }.prefix(most))
    }
}

extension PolicyFacts {
    /// The field's value, by its written name.
    fileprivate func words(for name: String, _ operation: PolicyOperation) -> String {
        func words<Value>(_ fact: Fact<Value>, _ word: (Value) -> String) -> String {
            switch fact {
            case .absent: "absent"
            case .unknown: "unknown"
            case .known(let value): word(value)
            }
        }
        let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
        if name == "operations" { return operation.rawValue }
        guard parts.count == 2, let block = PolicyBlock(rawValue: parts[0]) else { return "met" }
        if let field = TextField(parts[1], in: block) {
            return words(self[field]) { $0.map(\.shown).joined(separator: ", ") }
        }
        if let field = ChoiceField(parts[1], in: block) {
            return words(self[field]) {
                field.words.indices.contains(Int($0)) ? field.words[Int($0)] : ""
            }
        }
        if let field = BooleanField(parts[1], in: block) { return words(self[field]) { "\($0)" } }
        if let field = AgeField(parts[1], in: block) { return words(self[field]) { "\($0)" } }
        switch parts[1] {
        case "date": return words(date) { CalendarDay.text(of: $0) }
        case "uid": return words(uid) { "\($0)" }
        case "flags": return words(flags) { $0.names.joined(separator: ", ") }
        default: return "not then"
        }
    }
}
