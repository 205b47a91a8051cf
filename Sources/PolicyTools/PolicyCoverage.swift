// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyCompiler
internal import KeychainPolicyEngine
package import KeychainPolicyModel
package import PolicyLanguage

/// The part of a set that its tests cover.
package struct PolicyCoverage: Sendable {
    package struct Rule: Sendable {
        package let id: PolicyText
        package let origin: PolicyOrigin
        /// Whether a test meets the rule.
        package internal(set) var isCovered = false
        /// The fields of the rule, each with whether it alone kept a test from meeting the rule.
        package internal(set) var conditions: [(name: String, isDecisive: Bool)]

        /// The conditions that were seen true where the rule was met, and false where they decided.
        package var coveredConditions: Int {
            isCovered ? conditions.count { $0.isDecisive } : 0
        }
    }

    package private(set) var rules: [Rule] = []

    package init(_ loaded: LoadedPolicies) {
        let policy = loaded.policy
        var places: [PolicyText: Int] = [:]
        func add(_ id: PolicyText, _ origin: PolicyOrigin, _ conditions: [String]) {
            places[id] = rules.count
            rules.append(Rule(id: id, origin: origin, conditions: conditions.map { ($0, false) }))
        }
        for statement in policy.statements {
            add(statement.id, statement.origin, statement.match.parts.map(\.name))
        }
        for group in policy.groups {
            add(group.id, group.origin, group.parts.flatMap(\.names))
        }
        for file in loaded.files where !file.tests.isEmpty {
            let policy = loaded.policy(forTestsOf: file)
            var bench = TestBench(policy, file.tests)
            for statement in policy.statements {
                guard let place = places[statement.id] else { continue }
                rules[place].note(bench.seen(of: statement), from: 0)
            }
            for group in policy.groups {
                guard let place = places[group.id] else { continue }
                var first = 0
                for (statement, names) in group.parts {
                    rules[place].note(bench.seen(of: statement), from: first)
                    first += names.count
                }
            }
        }
    }

    package var coveredRules: Int { rules.count { $0.isCovered } }
    package var conditionCount: Int { rules.reduce(0) { $0 + $1.conditions.count } }
    package var coveredConditions: Int { rules.reduce(0) { $0 + $1.coveredConditions } }
}

extension LoadedPolicies {
    /// The rules, scopes and groups that some test meets. `PolicyCoverage` also finds out each
    /// condition's coverage, but compares each test with each rule for it.
    var statementsMetByTests: Set<PolicyText> {
        var met: Set<PolicyText> = []
        for file in files where !file.tests.isEmpty {
            let policy = policy(forTestsOf: file)
            guard let compiled = try? CompiledPolicy(policy) else { continue }
            let ids = (0..<compiled.statementCount).map { compiled.provenance(of: $0)?.id }
            let unfiled = policy.statements.filter { $0.effect == .audit(.decision) }
            let groups = Dictionary(grouping: policy.groups, by: \.group)
            let evaluator = ReferenceEvaluator(policy)
            for test in file.tests {
                for number in compiled.statements(matching: test.request) {
                    if let id = ids[number] { met.insert(id) }
                }
                for (operation, facts) in evaluator.cases(of: test.request) {
                    // The engine leaves these out.
                    for statement in unfiled
                    where statement.isMet(statement.match.truth(for: operation, facts)) {
                        met.insert(statement.id)
                    }
                    guard case .known(let texts) = facts[.accessGroup] else { continue }
                    for group in texts.flatMap({ groups[$0] ?? [] })
                    where group.parts.contains(where: {
                        $0.statement.match.truth(for: operation, facts) == .yes
                    }) {
                        met.insert(group.id)
                    }
                }
            }
        }
        return met
    }
}

/// A rule or a closed scope.
struct PolicyStatement {
    let id: PolicyText
    let origin: PolicyOrigin
    let match: PolicyMatch
    /// nil for a scope.
    let effect: PolicyEffect?
    /// The number of last parts of the match that are not written there.
    var hiddenParts = 0

    /// A statement that grants must match for certain.
    func isMet(_ truth: Truth) -> Bool {
        effect?.grants == true ? truth == .yes : truth != .no
    }
}

extension PolicySet {
    var statements: [PolicyStatement] {
        closed.map { PolicyStatement(id: $0.id, origin: $0.origin, match: $0.match, effect: nil) }
            + rules.map {
                PolicyStatement(id: $0.id, origin: $0.origin, match: $0.match, effect: $0.effect)
            }
    }
}

extension GroupMembership {
    /// Each member as a statement that grants, with the names of its parts. The group itself is
    /// none of the parts.
    var parts: [(statement: PolicyStatement, names: [String])] {
        let item = PolicyCondition.text(.accessGroup, [.literal(group)])
        return members.enumerated().map { place, member in
            let match = PolicyMatch(PolicyBox(operations: operations, member + [item]))
            let name = members.count > 1 ? "members[\(place)]: " : ""
            return (
                PolicyStatement(
                    id: id, origin: origin, match: match, effect: .share(""), hiddenParts: 1),
                match.parts.dropLast().map { name + $0.name }
            )
        }
    }
}

extension PolicyEffect {
    var grants: Bool {
        switch self {
        case .permit, .share: true
        default: false
        }
    }
}

/// A part of a rule that must hold for it to match.
enum MatchPart {
    case operations
    case condition(Int)
    case exception(Int)
}

extension PolicyMatch {
    var parts: [(part: MatchPart, name: String)] {
        (box.operations == .all ? [] : [(.operations, "operations")])
            + box.conditions.enumerated().map { (.condition($0.offset), $0.element.fieldName) }
            + exceptions.indices.map { (.exception($0), "unless[\($0)]") }
    }

    func truth(
        _ part: MatchPart, _ operation: PolicyOperation, _ facts: PolicyFacts
    ) -> Truth {
        switch part {
        case .operations: box.operations.contains(operation) ? .yes : .no
        case .condition(let place): box.conditions[place].truth(of: facts)
        case .exception(let place):
            switch exceptions[place].truth(for: operation, facts) {
            case .yes: .no
            case .unknown: .unknown
            case .no: .yes
            }
        }
    }
}

extension PolicyCoverage.Rule {
    /// `first` is the index of the statement's first part among the conditions.
    fileprivate mutating func note(_ seen: TestBench.Seen, from first: Int) {
        if seen.isMet { isCovered = true }
        for (place, isDecisive) in seen.decisive.enumerated() where isDecisive {
            conditions[first + place].isDecisive = true
        }
    }
}
